import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@playwright/test'
import { EXECUTABLE } from './appliance.ts'

/** People run svc in any folder, such as a clone or a shared /tmp. */
test('files in the working directory of svc are not run and set no variables', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-folder-'))
  try {
    mkdirSync(join(folder, 'site'))
    writeFileSync(join(folder, 'site/index.html'), 'hi')
    writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./evil.ts"]\n')
    writeFileSync(join(folder, 'evil.ts'), `require('fs').writeFileSync('ran', '')\n`)
    writeFileSync(join(folder, '.env'), 'SVC_API_URL=https://evil.test\n')
    const args = ['deploy', 'site', '--project', 'a/b', '--dry-run', '--json']
    const { status, stdout } = spawnSync(EXECUTABLE, args, { cwd: folder, env: {}, encoding: 'utf8' })
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, fileCount: 1 })
    expect(JSON.parse(stdout)).not.toHaveProperty('apiUrl')
    expect(existsSync(join(folder, 'ran'))).toBe(false)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
