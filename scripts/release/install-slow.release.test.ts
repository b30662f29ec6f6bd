import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeInstallScript } from './install-script.ts'
import { makeManifest } from './manifest.ts'
import { makeSums } from './sums.ts'
import { installHome, TOOLS } from './testing/install-run.ts'
import { sendsAByteASecond, startReleaseServer } from './testing/release-server.ts'
import { sampleRelease } from './testing/sample-release.ts'

/** It waits for 20 seconds, so it is not in `npm test`. contract 19.2 */
test.each(['curl', 'wget'])(
  'a server that sends a byte a second is given up by install.sh, with %s',
  async (program) => {
    const release = sampleRelease()
    for (const make of [makeInstallScript, makeManifest, makeSums]) await make(release)
    const server = await startReleaseServer(release.out, { 'release.json': sendsAByteASecond })
    const machine = installHome(join(release.out, 'install.sh'))
    const dir = join(machine.home, 'bin')
    const ended = await machine.run('dash', ['--dir', dir, '--from', server.url], {
      PATH: machine.path([...TOOLS, 'sha256sum', 'openssl', program]),
    })
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        `${server.url}/release.json was given up: it comes slower than 10240 bytes in 20 seconds`,
      ),
    })
    expect(existsSync(dir)).toBe(false)
    expect(machine.left()).toEqual([])
    server.stop()
    machine.remove()
    release.remove()
  },
)
