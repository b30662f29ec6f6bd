import { afterAll, expect, test } from 'bun:test'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

/** The real program is killed after the response but before its post step ends, and started again. */
const data = makeDataDir()
let server: ServerProcess | undefined

afterAll(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  data.remove()
})

const ENV = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'correct horse battery' }
const POSTS = 20
const HOST = 'production--site--acme.localhost'

test('kill -9 after the response loses neither the record nor the post step', async () => {
  server = await startServer(data.path, ENV)
  const { stdout } = await runSvc(['key', 'create', 'test', '--data-dir', data.path])
  const key = stdout.trim()
  const api = async (method: string, path: string, json: unknown) => {
    const answer = await fetch(`${server?.url}${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as { id: string; pagination: { total: number }; data: { x: string }[] }
  }
  const projectId = await publish(server, key)
  const schema = (name: string) =>
    api('POST', '/api/schemas', { projectId, name, fields: [{ name: 'x', type: 'string' }] })
  const [now, later] = [await schema('now'), await schema('later')]
  await api('POST', `/api/proxy-rules/project/${projectId}`, {
    pathPattern: '/api/contact',
    proxyType: 'pipeline',
    pipelineConfig: pipeline(),
  })

  const { url } = server
  const answers = await Promise.all(
    Array.from({ length: POSTS }, (_, i) =>
      fetch(`${url}/api/contact`, {
        method: 'POST',
        headers: { host: HOST, 'content-type': 'application/json' },
        body: JSON.stringify({ x: `x${i}` }),
      }),
    ),
  )
  server.signal('SIGKILL')
  await server.exited
  expect(answers.map(({ status }) => status)).toEqual(Array(POSTS).fill(200))

  server = await startServer(data.path, ENV)
  const seen = async (id: string) => {
    const { data: records } = await api('GET', `/api/schemas/${id}/records?limit=100`, undefined)
    return new Set(records.map(({ x }) => x)).size
  }
  expect(await seen(now.id)).toBe(POSTS)
  await until('the post steps of all requests', async () => (await seen(later.id)) >= POSTS)
}, 60_000)

/** The post step takes its time before it writes, so that the server dies first. */
const pipeline = () => ({
  steps: [
    {
      id: 'form',
      handlerType: 'form_handler',
      config: { fields: { x: { type: 'string', required: true } } },
    },
    {
      id: 'save',
      handlerType: 'data_create',
      config: { schemaId: '$schema:now', fields: { x: 'steps.form.x' } },
    },
  ],
  postSteps: [
    { id: 'wait', handlerType: 'function_handler', config: { code: SLOW, timeout: 10_000 } },
    {
      id: 'note',
      handlerType: 'data_create',
      config: { schemaId: '$schema:later', fields: { x: 'steps.form.x' } },
    },
  ],
})

const SLOW = 'function handler() { const end = Date.now() + 100; while (Date.now() < end); }'

async function publish(to: ServerProcess, key: string): Promise<string> {
  const form = new FormData()
  for (const [name, value] of Object.entries({
    owner: 'acme',
    repo: 'site',
    commitSha: 'abc1234',
    alias: 'production',
    isPublic: 'true',
  }))
    form.append(name, value)
  form.append('file', new File(['<h1>Site</h1>'], 'index.html'))
  const headers = { 'x-api-key': key }
  const uploaded = await fetch(`${to.url}/api/assets/upload`, { method: 'POST', headers, body: form })
  expect(uploaded.status).toBe(201)
  const project = await fetch(`${to.url}/api/projects/acme/site`, { headers })
  return ((await project.json()) as { id: string }).id
}
