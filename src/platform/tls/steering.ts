import { dlopen, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'

/** A socket that listens on the port, from `opening` or the `first`. */
export type ListeningSocket = { readonly descriptor: number }

/** Leads every new connection of a port to one of the sockets that listen on it, by the kernel. */
export type Steering = {
  /** The one that was there before. */
  first: ListeningSocket
  /** Calls `open`, which opens one more. `isLed`: new connections come to it alone. */
  opening<T>(open: () => T): { opened: T; socket: ListeningSocket; isLed: boolean }
  /** To be called right after a socket was closed: it moves the others. */
  closed(socket: ListeningSocket): void
}

const SOL_SOCKET = 1
const SO_ACCEPTCONN = 30
const SO_ATTACH_REUSEPORT_CBPF = 51
const BPF_RET_K = 0x06
const UNKNOWN = -1
const PROGRAM_BYTES = 8
const FILTER_BYTES = 16

/**
 * Undefined where it cannot be had: it needs Linux and glibc. Without it the kernel deals new connections out among all
 * sockets of a port, and those that wait in the queue of one that is closed are lost. socket(7), SO_REUSEPORT.
 */
export function createSteering(): Steering | undefined {
  const sockets = socketCalls()
  if (sockets === undefined) return undefined
  const first: ListeningSocket = { descriptor: UNKNOWN }
  /** In the kernel's order: the place of one that is closed is taken by the last. */
  const group: ListeningSocket[] = [first]
  let newest = first
  return {
    first,
    opening(open) {
      const before = sockets.listening()
      const opened = open()
      const descriptor = [...sockets.listening()].find((one) => !before.has(one)) ?? UNKNOWN
      newest = { descriptor }
      group.push(newest)
      return { opened, socket: newest, isLed: sockets.lead(descriptor, group.length - 1) }
    },
    closed(socket) {
      const at = group.indexOf(socket)
      const last = group.pop()
      if (last !== undefined && last !== socket) group[at] = last
      sockets.lead(newest.descriptor, group.indexOf(newest))
    },
  }
}

type SocketCalls = {
  /** The descriptors of this process that listen. */
  listening(): Set<number>
  /** False when the kernel does not do it. */
  lead(descriptor: number, index: number): boolean
}

function socketCalls(): SocketCalls | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const { symbols } = dlopen('libc.so.6', {
      getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    })
    const value = new Int32Array(1)
    const size = new Uint32Array(1)
    const isListening = (descriptor: number): boolean => {
      size[0] = 4
      const failed = symbols.getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, ptr(value), ptr(size))
      return failed === 0 && value[0] === 1
    }
    return {
      listening: () => new Set(readdirSync('/proc/self/fd').map(Number).filter(isListening)),
      lead(descriptor, index) {
        const program = new Uint8Array(PROGRAM_BYTES)
        const filter = filterOf(program, index)
        const size = filter.byteLength
        return symbols.setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, ptr(filter), size) === 0
      },
    }
  } catch {
    return undefined
  }
}

/** A `struct sock_fprog` of one instruction, which answers the index. `program` has to live as long as it. */
function filterOf(program: Uint8Array, index: number): Uint8Array {
  const instruction = new DataView(program.buffer)
  instruction.setUint16(0, BPF_RET_K, true)
  instruction.setUint32(4, index, true)
  const filter = new DataView(new ArrayBuffer(FILTER_BYTES))
  filter.setUint16(0, 1, true)
  filter.setBigUint64(8, BigInt(ptr(program)), true)
  return new Uint8Array(filter.buffer)
}
