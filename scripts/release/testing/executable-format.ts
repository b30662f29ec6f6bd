import { closeSync, openSync, readSync } from 'node:fs'

export type ExecutableFormat = { format: 'ELF' | 'Mach-O' | 'PE32+'; cpu: 'x64' | 'arm64'; isSigned: boolean }

const HEAD_BYTES = 64 * 1024

/** What the head of an executable says of itself. Throws for anything else. */
export function formatOf(file: string): ExecutableFormat {
  const head = headOf(file)
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  if (view.getUint32(0) === 0x7f454c46) return elf(view)
  if (view.getUint32(0, true) === 0xfeedfacf) return machO(view)
  if (view.getUint16(0) === 0x4d5a) return pe(view)
  throw new Error(`${file} begins with ${head.subarray(0, 8).toString('hex')}`)
}

function headOf(file: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  const fd = openSync(file, 'r')
  try {
    return head.subarray(0, readSync(fd, head))
  } finally {
    closeSync(fd)
  }
}

/** System V ABI: 64 bits, little endian, `e_machine`. */
function elf(view: DataView): ExecutableFormat {
  if (view.getUint8(4) !== 2 || view.getUint8(5) !== 1)
    throw new Error('this ELF is not of 64 bits, little endian')
  return { format: 'ELF', cpu: cpuOf(view.getUint16(18, true), { x64: 62, arm64: 183 }), isSigned: false }
}

/** mach-o/loader.h: `cputype`, and the load command with the code signature. */
function machO(view: DataView): ExecutableFormat {
  const cpu = cpuOf(view.getUint32(4, true), { x64: 0x01000007, arm64: 0x0100000c })
  let isSigned = false
  for (
    let command = 0, at = 32;
    command < view.getUint32(16, true);
    command++, at += view.getUint32(at + 4, true)
  )
    if (view.getUint32(at, true) === LC_CODE_SIGNATURE) isSigned = view.getUint32(at + 12, true) > 0
  return { format: 'Mach-O', cpu, isSigned }
}
const LC_CODE_SIGNATURE = 0x1d

/** Microsoft's PE format: the magic of the optional header says PE32+. */
function pe(view: DataView): ExecutableFormat {
  const at = view.getUint32(0x3c, true)
  if (view.getUint32(at) !== 0x50450000) throw new Error('this has no PE header')
  if (view.getUint16(at + 24, true) !== 0x20b) throw new Error('this PE is not of 64 bits')
  return {
    format: 'PE32+',
    cpu: cpuOf(view.getUint16(at + 4, true), { x64: 0x8664, arm64: 0xaa64 }),
    isSigned: false,
  }
}

function cpuOf(machine: number, known: { x64: number; arm64: number }): 'x64' | 'arm64' {
  if (machine === known.x64) return 'x64'
  if (machine === known.arm64) return 'arm64'
  throw new Error(`this executable is for a processor ${machine}`)
}
