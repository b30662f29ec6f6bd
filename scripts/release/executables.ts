import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../../src/cli/command.ts'
import { withDocumentsOf } from './documents.ts'
import { executableName, type Platform, type Release } from './release.ts'

/** The baseline builds run on processors without AVX2 too. docs/decisions/0024-releases.md */
const TARGETS: Readonly<Record<Platform, string>> = {
  'linux-x64': 'bun-linux-x64-baseline',
  'linux-arm64': 'bun-linux-arm64',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-arm64',
  'windows-x64': 'bun-windows-x64-baseline',
}

/** `svc-<platform>` of each platform, with the version and the public key in it. */
export async function makeExecutables(release: Release): Promise<void> {
  await withDocumentsOf(release, async (root) => {
    for (const platform of release.platforms) await build({ ...release, root }, platform)
  })
}

async function build({ version, publicKey, root, out }: Release, platform: Platform): Promise<void> {
  const outfile = join(out, executableName(platform))
  const flags = ['--target', TARGETS[platform], '--outfile', outfile, '--version', version]
  const child = Bun.spawn(
    [process.execPath, join(root, 'scripts/build.ts'), ...flags, '--public-key', publicKey],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: process.env },
  )
  if ((await child.exited) !== 0)
    throw new CommandFailure(`the executable for ${platform} could not be built`)
  chmodSync(outfile, 0o755)
}
