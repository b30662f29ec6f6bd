import type { Appliance } from './appliance.ts'

/** A picture of one dot. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const FILES: Record<string, Buffer> = {
  'a.png': Buffer.from(DOT, 'base64'),
  'notes/long.txt': Buffer.from('A long way up. '.repeat(200)),
  'notes/page.html': Buffer.from('<script>document.title = "ran"</script>'),
  'drawing.svg': Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg"><title>not</title><script>document.querySelector("title").textContent = "ran"</script></svg>',
  ),
  'sound.mp3': Buffer.from('no sound'),
  'some.bin': Buffer.from([0, 1, 2]),
}

/** Stores files below `pictures/` by a pipeline of the project's `production`. Returns their ids by path. */
export async function seedFiles(
  appliance: Appliance,
  projectId: string,
  name = 'acme/website',
): Promise<Record<string, string>> {
  const send = async (method: string, path: string, json?: unknown) =>
    (await appliance.asAdmin(method, path, json)).json()
  await send('POST', `/api/proxy-rules/project/${projectId}`, {
    ...{ pathPattern: '/api/address', method: 'POST', proxyType: 'pipeline' },
    pipelineConfig: {
      steps: [
        {
          id: 'up',
          handlerType: 'presigned_upload',
          config: { subDir: 'pictures', keyStrategy: 'verbatim' },
        },
        {
          id: 'answer',
          handlerType: 'response_handler',
          config: { body: '{"url":"{{steps.up.uploadUrl}}"}' },
        },
      ],
    },
  })
  for (const [path, bytes] of Object.entries(FILES)) {
    const { url } = await send('POST', `/repo/${name}/alias/production/api/address`, { path })
    const answer = await fetch(appliance.url + url, { method: 'PUT', body: new Uint8Array(bytes) })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  }
  const { data } = await send('GET', `/api/projects/${projectId}/files`)
  return Object.fromEntries(data.map(({ path, id }: { path: string; id: string }) => [path, id]))
}

/** The pages of files, below the project's. */
export async function seedFilePages(appliance: Appliance, projectId: string): Promise<string[]> {
  const ids = Object.values(await seedFiles(appliance, projectId))
  return [
    ...['', '?path=pictures', '?path=nowhere', '?prefix=pictures/n', '?prefix=nothing'],
    ...ids.map((id) => `/${id}`),
  ].map((rest) => `/files${rest}`)
}
