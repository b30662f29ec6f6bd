import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { SCHEMA_NAME } from '../../domain/schema-fields.ts'
import { EXIT, type Io, printable, printableJson, UsageError } from '../command.ts'
import { scaffold } from './scaffold.ts'
import { folderOfName, type RulesFlags } from './settings.ts'
import { writeInside } from './write-inside.ts'

/**
 * Writes a working rule set: a form whose rule stores what it gets, the schema, a test. Overwrites nothing. On a terminal it
 * asks for missing values.
 */
export async function initRules(words: string[], flags: RulesFlags, io: Io): Promise<number> {
  const ask = flags.json ? undefined : io.ask
  const [given, ...others] = words
  const name = given ?? (await ask?.('Name of the rule set: '))?.trim()
  if (!name || others.length > 0) throw new UsageError('name one rule set')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
    throw new UsageError(`"${name}" is no name for a folder: letters, digits, dots, hyphens and underscores`)
  const rule = flags.rule ?? ((await ask?.(`Rule [${RULE}]: `))?.trim() || RULE)
  const schema = flags.schema ?? ((await ask?.(`Schema [${SCHEMA}]: `))?.trim() || SCHEMA)
  if (!SCHEMA_NAME.test(schema)) throw new UsageError(`"${schema}" is no name of a schema`)
  const folder = folderOfName(io, name)
  const { written, kept } = writeMissing(folder, scaffold(name, rule, schema))
  const shown = relative(io.cwd, folder)
  if (flags.json) io.stdout.write(`${printableJson({ path: shown, written, kept })}\n`)
  else {
    for (const path of written) io.stdout.write(`wrote ${printable(join(shown, path))}\n`)
    for (const path of kept) io.stdout.write(`kept  ${printable(join(shown, path))}, which was there\n`)
    io.stdout.write(`next: svc rules test ${shown}, then svc rules push ${shown} --project owner/repo\n`)
  }
  return EXIT.ok
}

const RULE = 'POST /api/messages'
const SCHEMA = 'messages'

function writeMissing(
  folder: string,
  files: ReadonlyMap<string, string>,
): { written: string[]; kept: string[] } {
  const isThere = (path: string): boolean => existsSync(join(folder, path))
  const kept = [...files.keys()].filter(isThere)
  const missing = [...files].filter(([path]) => !isThere(path))
  writeInside(folder, { texts: missing }, 'wx')
  const written = missing.map(([path]) => path)
  return { written, kept }
}
