import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startAppliance } from '../ui/e2e/appliance.ts'
import { age } from './shots/age.ts'
import { smallerPng } from './shots/png.ts'
import { fillTeam } from './shots/team.ts'
import { SHOTS_ENV } from './shots/world.ts'

/**
 * `npm run shots -- [--out shots] [--only PAGE,…] [--readme]`: pictures of the main pages of the executable, on a phone, a laptop and a
 * wide screen, dark and light, empty, in use, with 1 000 rows and with errors. `--readme` also writes those of the README.
 */
const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    out: { type: 'string', default: 'shots' },
    only: { type: 'string', default: '' },
    readme: { type: 'boolean', default: false },
  },
})
const out = resolve(root, values.out)
if (process.env['SVC_EXECUTABLE'] === undefined) build()
const dataDir = mkdtempSync(join(tmpdir(), 'svc-shots-data-'))
try {
  await fill()
  mkdirSync(out, { recursive: true })
  process.exitCode = await takeShots()
  if (values.readme && process.exitCode === 0) await keepForReadme()
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}

function build(): void {
  const { exitCode } = Bun.spawnSync([process.execPath, 'scripts/build.ts'], { cwd: root, stderr: 'inherit' })
  if (exitCode !== 0) process.exit(exitCode)
}

async function fill(): Promise<void> {
  const appliance = await startAppliance({ ...SHOTS_ENV, DATA_DIR: dataDir })
  try {
    // Its own names lead here only in the browser of the pictures.
    const team = await fillTeam({ ...appliance, url: `http://127.0.0.1:${appliance.port}` })
    writeFileSync(join(dataDir, 'team.json'), JSON.stringify(team))
  } finally {
    await appliance.stop()
  }
  age(dataDir)
}

function takeShots(): Promise<number> {
  const argv = ['node_modules/.bin/playwright', 'test', '--config', 'scripts/shots/playwright.config.ts']
  const env = { ...process.env, SHOTS_DATA: dataDir, SHOTS_OUT: out, SHOTS_ONLY: values.only }
  return Bun.spawn(argv, { cwd: root, env, stdout: 'inherit', stderr: 'inherit' }).exited
}

async function keepForReadme(): Promise<void> {
  for (const name of ['overview', 'deployment', 'trace', 'sign-in']) {
    const png = smallerPng(Buffer.from(await Bun.file(join(out, `readme-${name}.png`)).arrayBuffer()))
    await Bun.write(join(root, `docs/images/${name}.png`), png)
    console.log(`docs/images/${name}.png ${Math.round(png.length / 1000)} KB`)
  }
}
