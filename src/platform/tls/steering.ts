import { dlopen, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'

/** A socket that listens on the port: `first`, or one from `opening`. */
export type ListeningSocket = { readonly descriptor: number }

/** Directs all new connections of a port to one of the sockets that listen on it, in the kernel. */
export type Steering = {
  /** The socket that existed before. */
  first: ListeningSocket
  /** Calls `open`, which opens another socket. `isLed`: it alone gets the new connections. */
  opening<T>(open: () => T): { opened: T; socket: ListeningSocket; isLed: boolean }
  /** Call it right after a socket was closed, because that moves the others in the kernel's group. */
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
 * Undefined if not available: it needs Linux and glibc. Without it the kernel spreads new connections over all sockets
 * of a port, and loses those in the queue of a socket that closes. socket(7), SO_REUSEPORT.
 */
export function createSteering(): Steering | undefined {
  const sockets = socketCalls()
  if (sockets === undefined) return undefined
  const first: ListeningSocket = { descriptor: UNKNOWN }
  /** In the order of the kernel: the last socket takes the place of a closed one. */
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
  /** The listening descriptors of this process. */
  listening(): Set<number>
  /** False if the kernel refuses. */
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

/** A `struct sock_fprog` with one instruction, which returns the index. `program` must live as long as the result. */
function filterOf(program: Uint8Array, index: number): Uint8Array {
  const instruction = new DataView(program.buffer)
  instruction.setUint16(0, BPF_RET_K, true)
  instruction.setUint32(4, index, true)
  const filter = new DataView(new ArrayBuffer(FILTER_BYTES))
  filter.setUint16(0, 1, true)
  filter.setBigUint64(8, BigInt(ptr(program)), true)
  return new Uint8Array(filter.buffer)
}
