import type { Appliance } from './journey.ts'

export const pageOf = (text: string) =>
  `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>${text}</h1>`

/** Creates the public project acme/website, publishes the files as production, and returns the id of the project. */
export async function publishWebsite(
  appliance: Appliance,
  folder: (files: Record<string, string>) => string,
  files: Record<string, string>,
): Promise<string> {
  const make = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
  const { id } = await make('/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  const { key } = await make('/api/api-keys', { name: 'ci', projectId: id })
  const where = ['--api-url', appliance.url, '--project', 'acme/website', '--alias', 'production']
  await appliance.svc(['deploy', folder(files), ...where, '--sha', 'aaaaaaaaaaaaaaaa'], { SVC_API_KEY: key })
  return id
}
