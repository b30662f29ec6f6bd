import { afterAll, afterEach, expect, test } from 'bun:test'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { certificateFolder } from '../testing/tls-process.ts'
import { until } from '../testing/until.ts'

/** Whether the program starts with `TLS`. */
const certificates = certificateFolder(['admin.sites.test'])
const running: ServerProcess[] = []
afterEach(async () => {
  for (const server of running.splice(0)) {
    server.signal('SIGKILL')
    await server.exited
  }
})
afterAll(() => certificates.remove())

test('an unusable pair stops the start with 78 and one line', async () => {
  certificates.write('crossed', { ...certificates.issue(), key: certificates.issue().key })
  const rows: [env: Record<string, string>, says: string][] = [
    [certificates.env('nowhere'), 'TLS_CERT_FILE is'],
    [certificates.env('crossed'), 'TLS_KEY_FILE is'],
    [{ TLS: 'files' }, 'TLS_CERT_FILE is missing'],
  ]
  for (const [env, says] of rows) {
    const empty = makeDataDir()
    const { code, stderr } = await runSvc(['serve'], { env: { ...env, DATA_DIR: empty.path, PORT: '0' } })
    empty.remove()
    expect(code).toBe(78)
    expect(stderr).toStartWith(`svc serve: ${says}`)
    expect(stderr.trimEnd()).not.toContain('\n')
  }
})

test('an expired certificate is served, with a warning', async () => {
  const expired = makeDataDir()
  certificates.write('old', certificates.issue({ notAfter: Date.now() - 60_000 }))
  const other = await startServer(expired.path, { ...certificates.env('old'), BASE_DOMAIN: 'sites.test' })
  running.push(other)
  await until('the warning', () => other.output().includes('the certificate has expired'))
  expired.remove()
})

test('two servers never share a port, although the kernel would let them', async () => {
  const [first, second] = [makeDataDir(), makeDataDir()]
  certificates.write('shared', certificates.issue())
  const env = certificates.env('shared')
  const server = await startServer(first.path, env)
  running.push(server)
  const { port } = new URL(server.url)
  const { code, stderr } = await runSvc(['serve', '--port', port, '--http-port', 'off'], {
    env: { ...env, DATA_DIR: second.path, HOST: '127.0.0.1' },
  })
  first.remove()
  second.remove()
  expect(code).toBe(1)
  expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}`)
  expect(stderr).toContain('EADDRINUSE')
})

test('before the first certificate nothing is shown, and everybody is told to wait', async () => {
  const empty = makeDataDir()
  const other = await startServer(empty.path, {
    TLS: 'auto',
    BASE_DOMAIN: 'sites.test',
    ACME_DIRECTORY: 'https://127.0.0.1:1/directory',
  })
  running.push(other)
  const answer = await fetch(`${other.plainUrl}/`, {
    redirect: 'manual',
    headers: { host: 'admin.sites.test' },
  })
  expect(answer.status).toBe(503)
  expect(await answer.text()).toContain('certificate')
  await expect(fetch(other.url)).rejects.toThrow('Unable to connect')
  other.signal('SIGTERM')
  expect(await other.exited).toBe(0)
  empty.remove()
})
