import { resolve } from 'node:path'
import { EXIT, parseFlags, UsageError } from '../src/cli/command.ts'
import { exitCodeOf } from './release/exit-code.ts'
import { writeIndex } from './release/index-of.ts'

const USAGE = `usage: npm run release:index -- ROOT

Writes ROOT/index.json from each ROOT/<version>/release.json. The index is not signed, the releases are.`

process.exitCode = await exitCodeOf('release:index', USAGE, () => main(Bun.argv.slice(2)))

function main(args: string[]): number {
  const { positionals } = parseFlags({ args, options: {}, allowPositionals: true })
  const [root, extra] = positionals
  if (root === undefined || extra !== undefined) throw new UsageError('give one folder as ROOT')
  const { latest, releases } = writeIndex(resolve(root))
  console.error(`listed: ${releases.length}, the latest: ${latest ?? 'none without a pre-release part'}`)
  return EXIT.ok
}
