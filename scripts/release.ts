import { join, resolve } from 'node:path'
import { EXIT, parseFlags } from '../src/cli/command.ts'
import { exitCodeOf } from './release/exit-code.ts'
import { makeRelease } from './release/make.ts'
import { requireReplaceable } from './release/out-folder.ts'
import { prepareRelease } from './release/prepare.ts'
import { PLATFORMS } from './release/release.ts'

const USAGE = `usage: npm run release -- [--version V] [--out DIR] [--key FILE] [--only PLATFORM,…] [--unofficial]

Makes a release in DIR and publishes nothing. docs/releasing.md says how one is published.

  --version V      the version of all that is made (Semantic Versioning); else that of package.json
  --out DIR        a folder that is not there, is empty or is a release, which is replaced; else dist/release
  --key FILE       the Ed25519 private key that signs, PKCS#8 PEM; else the text in SVC_RELEASE_KEY, else one of this run only
  --only PLATFORM  of ${PLATFORMS.join(', ')}; several with commas
  --unofficial     sign with another key than the one in release.config.json`

const OPTIONS = {
  version: { type: 'string' },
  out: { type: 'string', default: 'dist/release' },
  key: { type: 'string' },
  only: { type: 'string' },
  unofficial: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const root = join(import.meta.dir, '..')

process.exitCode = await exitCodeOf('release', USAGE, () => main(Bun.argv.slice(2)))

async function main(args: string[]): Promise<number> {
  const { values } = parseFlags({ args, options: OPTIONS })
  if (values.help) {
    console.log(USAGE)
    return EXIT.ok
  }
  const keyText = process.env['SVC_RELEASE_KEY']
  // No program that is started from here needs it.
  delete process.env['SVC_RELEASE_KEY']
  const release = prepareRelease(values, root, keyText)
  const out = resolve(root, values.out)
  requireReplaceable(out)
  await makeRelease(out, release)
  console.error(`svc ${release.version} is in ${out}, signed with ${release.publicKey}`)
  if (values.key === undefined && !keyText)
    console.error('That key was made for this run and is gone; --key names one to keep.')
  return EXIT.ok
}
