import { fstatSync, readSync, write, writeSync } from 'node:fs'
import { IS_UTF16, textOf } from '../domain/text-file.ts'
import { CommandFailure, type Io } from './command.ts'
import { openUrl } from './open-url.ts'

const STDIN = 0
const STDOUT = 1
const STDERR = 2

/** The real environment of the CLI: this process. `env` comes from main.ts, the only reader of `process.env`. */
export function processIo(env: Io['env']): Io {
  return {
    stdout: { write: (text) => writeAll(STDOUT, text), put: (bytes) => putAside(STDOUT, bytes) },
    stderr: { write: (text) => writeAll(STDERR, text) },
    readPassword: async (prompt) => (isatty(STDIN) ? readHidden(prompt) : readLine({ isRaw: false })),
    get ask() {
      return isatty(STDIN) && isatty(STDERR) ? readShown : undefined
    },
    openUrl,
    env,
    cwd: process.cwd(),
    isTerminal: isatty(STDERR) && env['TERM'] !== 'dumb',
    sleep: (ms) => Bun.sleep(ms),
    nowMs: () => performance.now(),
  }
}

/** A server's output is rarely a device, so most starts can skip loading node:tty, which takes milliseconds. */
const isatty = (fd: number): boolean => isDevice(fd) && process.getBuiltinModule('node:tty').isatty(fd)

function isDevice(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice()
  } catch {
    // The descriptor is closed.
    return false
  }
}

/** Writes on a pool thread, so that only that thread waits when nobody reads. */
const putAside = (fd: number, bytes: Uint8Array): Promise<number> =>
  new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => (error === null ? resolve(written) : reject(error)))
  })

/** Writes synchronously, so that nothing is cut off when the process ends. A reader that left is no error. */
function writeAll(fd: number, text: string | Uint8Array): void {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  let written = 0
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written)
    } catch (error) {
      if (!hasCode(error, 'EAGAIN')) {
        if (hasCode(error, 'EPIPE')) return
        throw error
      }
      Bun.sleepSync(1)
    }
  }
}

async function readShown(prompt: string): Promise<string | undefined> {
  writeAll(STDERR, prompt)
  return readLine({ isRaw: false })
}

/** Raw mode echoes nothing and passes on every key, so backspace and Ctrl-C are handled here. */
function readHidden(prompt: string): string | undefined {
  writeAll(STDERR, prompt)
  process.stdin.setRawMode(true)
  try {
    return readLine({ isRaw: true })
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    endPrompt()
    return process.exit(INTERRUPTED_EXIT)
  } finally {
    endPrompt()
  }
}

function endPrompt(): void {
  process.stdin.setRawMode(false)
  writeAll(STDERR, '\n')
}

class Interrupted extends Error {}

/** The shell's exit code for a command ended by Ctrl-C. */
const INTERRUPTED_EXIT = 130
const CTRL_C = 0x03
const CTRL_D = 0x04
const CTRL_U = 0x15
const BACKSPACES: readonly (number | undefined)[] = [0x08, 0x7f]
const NEWLINE = 0x0a
const RETURN = 0x0d

/** Reads byte by byte, so that the rest of the pipe is left for the next reader. */
function readLine({ isRaw }: { isRaw: boolean }): string | undefined {
  const line: number[] = []
  for (;;) {
    const byte = readByte()
    if (byte === undefined || (isRaw && byte === CTRL_D)) {
      return line.length === 0 ? undefined : decodeLine(line)
    }
    if (byte === NEWLINE || (isRaw && byte === RETURN)) return decodeLine(line)
    if (isRaw) typeKey(line, byte)
    else line.push(byte)
  }
}

function typeKey(line: number[], byte: number): void {
  if (byte === CTRL_C) throw new Interrupted()
  if (byte === CTRL_U) line.length = 0
  else if (BACKSPACES.includes(byte)) deleteCharacter(line)
  else line.push(byte)
}

/** Removes a whole UTF-8 character: continuation bytes together with their lead byte. */
function deleteCharacter(line: number[]): void {
  let last = line.pop()
  while (last !== undefined && (last & 0xc0) === 0x80) last = line.pop()
}

function decodeLine(line: readonly number[]): string {
  const text = textOf(Uint8Array.from(line))
  if (text === null) throw new CommandFailure(`what arrives on stdin ${IS_UTF16}`)
  return text.replace(/\r$/, '')
}

function readByte(): number | undefined {
  const byte = new Uint8Array(1)
  for (;;) {
    try {
      return readSync(STDIN, byte, 0, 1, null) === 0 ? undefined : byte[0]
    } catch (error) {
      if (hasCode(error, 'EOF')) return undefined
      if (!hasCode(error, 'EAGAIN')) throw error
      Bun.sleepSync(5)
    }
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
