import { existsSync } from 'node:fs'
import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type Command,
  CommandFailure,
  EXIT,
  type Io,
  parseFlags,
  printable,
  printableJson,
  UsageError,
} from './command.ts'
import { type Composed, compose } from './import/compose.ts'
import { SourceError } from './import/located.ts'
import type { NotCarried, Outcome } from './import/outcome.ts'
import { MAX_SOURCE_BYTES, readSource, SOURCE_NAMES } from './import/read-source.ts'

const USAGE = `usage: svc import FILE [--out DIR] [--force] [--dry-run] [--strict] [--json]

Writes _redirects and _headers from the configuration of another host. FILE is, by its name, one of
${SOURCE_NAMES.join(', ')}.
Every entry is carried with the same meaning, or listed with its place and the reason.

  --out DIR   where to write; the folder of FILE unless given
  --force     write over files that are there
  --dry-run   write nothing, and print what would be written
  --strict    fail, and write nothing, if anything is not carried
  --json      print { redirects, headers, written, settings, notCarried }: the first two count lines and blocks
Exit code: 0; 1 FILE cannot be read, a file is in the way, or with --strict anything is not carried; 2 usage.`

export const importCommand: Command = {
  summary: 'Take over redirects and headers from another host',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({
      args,
      options: {
        out: { type: 'string' },
        force: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
    const [file, ...others] = positionals
    if (file === undefined || others.length > 0) throw new UsageError('name one file')
    const name = basename(file)
    if (!SOURCE_NAMES.includes(name)) throw new UsageError(`FILE must be called ${SOURCE_NAMES.join(', ')}`)
    const path = resolve(io.cwd, file)
    const outcome = readSourceAt(file, name, await bytesOf(path, file))
    const composed = compose(outcome)
    outcome.notCarried.sort((a, b) => a.line - b.line || a.column - b.column)
    const isHeld = values.strict && outcome.notCarried.length > 0
    const folder = resolve(io.cwd, values.out ?? dirname(path))
    const written = values['dry-run'] || isHeld ? [] : await writeFiles(folder, composed, values.force)
    if (values.json) io.stdout.write(`${printableJson(answerOf(file, outcome, composed, written), 2)}\n`)
    else report(io, file, outcome, { composed, written, isDryRun: values['dry-run'] })
    return isHeld ? EXIT.failed : EXIT.ok
  },
}

/** One byte more than may be read shows that there is more. */
async function bytesOf(path: string, file: string): Promise<Uint8Array> {
  try {
    if (!(await stat(path)).isFile()) throw new CommandFailure(`${file} is no file`)
    return await Bun.file(path)
      .slice(0, MAX_SOURCE_BYTES + 1)
      .bytes()
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(
      `${file} cannot be read: ${error instanceof Error ? error.message : 'unknown'}`,
      EXIT.failed,
      {
        cause: error,
      },
    )
  }
}

function readSourceAt(file: string, name: string, bytes: Uint8Array): Outcome {
  try {
    return readSource(name, bytes)
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    throw new CommandFailure(`${file}:${error.line}:${error.column} ${error.message}`)
  }
}

/** Looks at both places before it writes to either. Returns what was written. */
async function writeFiles(
  folder: string,
  { redirects, headers }: Composed,
  isForced: boolean,
): Promise<string[]> {
  const files = [
    { path: join(folder, '_redirects'), text: redirects },
    { path: join(folder, '_headers'), text: headers },
  ].filter(({ text }) => text !== '')
  const inTheWay = files.filter(({ path }) => existsSync(path)).map(({ path }) => path)
  if (inTheWay.length > 0 && !isForced)
    throw new CommandFailure(
      `${inTheWay.join(' and ')} would be written over: --force does that; nothing was written`,
    )
  if (files.length > 0) await mkdir(folder, { recursive: true })
  const besides = files.map(({ path, text }) => ({ path, beside: `${path}.${process.pid}.tmp`, text }))
  for (const { beside, text } of besides) await writeFile(beside, text)
  for (const { path, beside } of besides) await rename(beside, path)
  return files.map(({ path }) => path)
}

const placed = (file: string, { line, column }: NotCarried): string => `${file}:${line}:${column}`

const answerOf = (
  file: string,
  { settings, notCarried }: Outcome,
  { counts }: Composed,
  written: string[],
) => ({
  ...counts,
  written,
  settings,
  notCarried: notCarried.map((one) => ({ at: placed(file, one), what: one.what, why: one.why })),
})

type Reported = { composed: Composed; written: string[]; isDryRun: boolean }

function report(
  io: Io,
  file: string,
  { settings, notCarried }: Outcome,
  { composed, written, isDryRun }: Reported,
): void {
  const { redirects, headers } = composed.counts
  const lines = [
    `carried ${redirects} ${redirects === 1 ? 'redirect' : 'redirects'} and headers of ${headers} ${headers === 1 ? 'path' : 'paths'}`,
    ...written.map((path) => `wrote ${path}`),
    ...(isDryRun ? textsOf(composed) : []),
    ...Object.entries(settings).map(([name, value]) => `set ${name} of the project to ${value}`),
    ...notCarried.map((one) => `${placed(file, one)} ${one.what}: ${one.why}`),
  ]
  io.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''))
}

const textsOf = ({ redirects, headers }: Composed): string[] =>
  [`_redirects\n${redirects}`, `_headers\n${headers}`]
    .map((text) => text.trimEnd().split('\n'))
    .filter(({ length }) => length > 1)
    .flat()
