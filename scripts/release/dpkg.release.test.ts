import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDeb } from './deb.ts'
import { CONFIG, type SampleRelease, sampleRelease } from './testing/sample-release.ts'

/**
 * What the real dpkg does with the packages, on a copy of this machine that keeps its changes in a folder: so it needs root, and
 * overlayfs. Only systemctl is a stand-in. `npm run test:release`. contract 19.2
 */
const AS_ROOT = process.getuid?.() === 0 ? [] : ['sudo', '-n']
const OLD = '1.2.0-rc.1'
const NEW = '1.2.0'
const CPU = process.arch === 'arm64' ? 'arm64' : 'amd64'

const folder = mkdtempSync(join(tmpdir(), 'svc-dpkg-'))
const releases: SampleRelease[] = []
beforeAll(async () => {
  for (const name of ['changed', 'work', 'root']) mkdirSync(join(folder, name))
  for (const version of [OLD, NEW]) {
    const release = sampleRelease({ version, config: CONFIG }, `#!/bin/sh\necho svc ${version}\n`)
    releases.push(release)
    await makeDeb(release)
  }
  const calls = `printf '#!/bin/sh\\necho "$*" >> /calls\\n' > /usr/local/bin/systemctl && chmod 755 /usr/local/bin/systemctl`
  expect(onTheCopy(`mkdir -p /run/systemd/system && ${calls}`).code).toBe(0)
})
afterAll(() => {
  for (const release of releases) release.remove()
  Bun.spawnSync([...AS_ROOT, 'rm', '-rf', folder])
})

/** Runs a script there; what the ones before changed is still so. */
function onTheCopy(script: string): { code: number; output: string } {
  const at = (name: string) => join(folder, name)
  const layers = `lowerdir=/,upperdir=${at('changed')},workdir=${at('work')}`
  const mounted = `mount -t overlay overlay -o "${layers}" "${at('root')}" && exec chroot "${at('root')}" sh -c "$1" 2>&1`
  const { exitCode, stdout } = Bun.spawnSync(
    [...AS_ROOT, 'unshare', '--mount', 'sh', '-c', mounted, 'sh', script],
    { stdin: 'ignore' },
  )
  return { code: exitCode, output: stdout.toString() }
}

const deb = (version: string) =>
  join(releases[version === OLD ? 0 : 1]?.out ?? '', `${CONFIG.deb}_${version}_${CPU}.deb`)

/** What dpkg said, what systemctl was told, and what `look` printed. */
function dpkg(args: string, look = ':'): { code: number; said: string; calls: string[]; seen: string } {
  const mark = '--- 8< ---\n'
  const { output } = onTheCopy(
    `rm -f /calls; dpkg ${args}; code=$?; echo '--- 8< ---'; cat /calls 2>/dev/null; echo '--- 8< ---'; { ${look}; } 2>&1; echo '--- 8< ---'; echo $code`,
  )
  const [said = '', calls = '', seen = '', code = ''] = output.split(mark)
  return { code: Number(code), said, calls: calls.split('\n').filter((line) => line !== ''), seen }
}

test('a first installation makes user, group and folder, enables and starts', () => {
  const look =
    'svc version; id -un svc; id -gn svc; stat -c "%a %U:%G" /var/lib/svc /etc/svc.env; dpkg --verify svc'
  expect(dpkg(`--install ${deb(OLD)}`, look)).toMatchObject({
    code: 0,
    calls: ['daemon-reload', 'enable svc.service', 'start svc.service'],
    seen: `svc ${OLD}\nsvc\nsvc\n700 svc:svc\n600 root:root\n`,
  })
})

test('an upgrade restarts and keeps the settings that were changed', () => {
  onTheCopy('echo BASE_DOMAIN=sites.example.com >> /etc/svc.env; touch /var/lib/svc/svc.db')
  expect(dpkg(`--install ${deb(NEW)}`, 'svc version; tail -1 /etc/svc.env')).toMatchObject({
    code: 0,
    calls: ['daemon-reload', '--quiet is-enabled svc.service', 'restart svc.service'],
    seen: `svc ${NEW}\nBASE_DOMAIN=sites.example.com\n`,
  })
})

test('removed it is stopped, and keeps settings and data; installed again it runs again', () => {
  expect(dpkg('--remove svc', 'ls /etc/svc.env /var/lib/svc; ls /usr/bin/svc')).toMatchObject({
    code: 0,
    calls: ['stop svc.service', 'daemon-reload'],
    seen: expect.stringMatching(
      /^\/etc\/svc\.env\n\n\/var\/lib\/svc:\nsvc\.db\nls: cannot access '\/usr\/bin\/svc'/,
    ),
  })
  expect(dpkg(`--install ${deb(NEW)}`).calls).toContain('restart svc.service')
})

test('a purge takes the settings, never the data, and says so', () => {
  const { code, said, seen } = dpkg('--purge svc', 'ls /etc/svc.env; ls /var/lib/svc; id -un svc')
  expect([code, said]).toEqual([0, expect.stringContaining('what was published stays in /var/lib/svc')])
  expect(seen).toEndWith("'/etc/svc.env': No such file or directory\nsvc.db\nsvc\n")
})

test('without a running systemd it neither starts nor fails', () => {
  onTheCopy('rm -r /run/systemd')
  expect(dpkg(`--install ${deb(NEW)}`, 'svc version')).toMatchObject({
    code: 0,
    calls: [],
    seen: `svc ${NEW}\n`,
  })
  expect(dpkg('--purge svc')).toMatchObject({ code: 0, calls: [] })
})
