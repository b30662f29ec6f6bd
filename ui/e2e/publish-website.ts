import { again } from './appliance.ts'
import type { Appliance } from './journey.ts'

export const pageOf = (text: string) =>
  `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>${text}</h1>`

const IN_PRODUCTION = { alias: 'production', commitSha: 'aaaaaaaaaaaaaaaa' }

/** Creates the public project acme/website, publishes the files as production, and returns the id of the project. */
export async function publishWebsite(appliance: Appliance, files: Record<string, string>): Promise<string> {
  const { id, upload } = await createWebsite(appliance)
  await upload(files, IN_PRODUCTION)
  return id
}

type UploadFields = { commitSha: string; alias?: string; description?: string }

type Website = {
  id: string
  /** Publishes in one request, which takes a tenth of `svc deploy`. Returns when aliases and files are there. */
  upload(files: Record<string, string>, fields: UploadFields): Promise<void>
}

/** Creates the public project acme/website, and a key of it that is named ci. */
export async function createWebsite(appliance: Appliance): Promise<Website> {
  const make = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
  const { id } = await make('/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  const { key } = await make('/api/api-keys', { name: 'ci', projectId: id })
  return {
    id,
    async upload(files, fields) {
      const form = new FormData()
      for (const [name, value] of Object.entries({ repository: 'acme/website', ...fields }))
        form.append(name, value)
      for (const [path, content] of Object.entries(files)) form.append('files', new File([content], path))
      const to = `http://127.0.0.1:${appliance.plainPort}/api/deployments`
      const answer = await again(() =>
        fetch(to, { method: 'POST', headers: { 'x-api-key': key }, body: form }),
      )
      if (!answer.ok) throw new Error(`The upload was refused: ${await answer.text()}`)
    },
  }
}
