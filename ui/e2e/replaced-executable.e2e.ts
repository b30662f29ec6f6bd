import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@playwright/test'
import { ADMIN, type Appliance, EXECUTABLE, startAppliance } from './appliance.ts'

/** Between the exchange of the file and the restart of an update, the server goes on as it was. */
test('a server whose executable was removed runs functions and makes backups', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-replaced-'))
  const executable = join(folder, 'svc')
  copyFileSync(EXECUTABLE, executable)
  const env = {
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    BACKUP_DIR: join(folder, 'backups'),
  }
  const app = await startAppliance(env, executable)
  try {
    const id = await publish(app, join(folder, 'site'))
    rmSync(executable)
    await app.asAdmin('POST', `/api/proxy-rules/project/${id}`, {
      pathPattern: '/sum',
      proxyType: 'pipeline',
      pipelineConfig: {
        name: 'sum',
        steps: [
          { id: 'code', handlerType: 'function_handler', config: { code: 'const handler = () => 20 + 3' } },
          { id: 'answer', handlerType: 'response_handler', config: { body: '{{steps.code}}' } },
        ],
      },
    })
    const sum = await app.asAdmin('POST', '/repo/acme/site/alias/production/sum', {})
    expect([sum.status, await sum.text()]).toEqual([200, '23'])
    expect((await app.asAdmin('POST', '/api/backups')).status).toBe(201)
  } finally {
    await app.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Returns the id of the project. */
async function publish(app: Appliance, site: string): Promise<string> {
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), 'hi')
  const send = async (path: string, json: unknown) => (await app.asAdmin('POST', path, json)).json()
  const { id } = await send('/api/projects', { owner: 'acme', name: 'site', isPublic: true })
  const { key } = await send('/api/api-keys', { name: 'ci', projectId: id })
  const where = ['--api-url', app.url, '--project', 'acme/site', '--alias', 'production']
  expect(await app.svc(['deploy', site, ...where], { SVC_API_KEY: key })).toMatchObject({ exitCode: 0 })
  return id
}
