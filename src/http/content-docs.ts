/**
 * What answers on the admin host beside the API's own routes, for the OpenAPI document. Any method reaches the rules of a
 * site at the first three; a file answers GET and HEAD. spec: Public access; contract §1 Hosts, §11.
 */

type Parameter = { name: string; description: string; example: string }

const owner: Parameter = { name: 'owner', description: 'Repository owner', example: 'acme' }
const repo: Parameter = { name: 'repo', description: 'Repository name', example: 'docs' }
const ref: Parameter = { name: 'ref', description: 'Name of an alias, or a SHA', example: 'production' }
const alias: Parameter = { name: 'alias', description: 'Name of an alias', example: 'production' }
const sha: Parameter = {
  name: 'sha',
  description: 'A SHA; 7 digits or more where they say which',
  example: '3f2a9c1d',
}
const path: Parameter = {
  name: 'path',
  description: 'Path of the file, with its slashes as they are (the explorer would encode them)',
  example: 'index.html',
}

const inPath = ({ name, description, example }: Parameter) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

/** Anonymous, or with what came along. */
const OPTIONAL = [{}, { apiKey: [] }, { session: [] }]

const file = (summary: string, description: string, security: object[], parameters: Parameter[]) => ({
  get: {
    tags: ['Public access'],
    summary,
    description,
    security,
    parameters: [...parameters, path].map(inPath),
    responses: {
      200: {
        description: 'The file',
        content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
      },
      302: { description: 'A browser that goes to a page is sent to the host of the site' },
      308: { description: 'The same folder with a slash at its end' },
    },
  },
})

const PRIVATE = 'Of a private project for those who may see it; for others there is none (404).'

export const contentPaths: Record<string, object> = {
  '/public/{owner}/{repo}/{ref}/{path}': file(
    'A file of a public site',
    'Credentials are not looked at: of a private project there is nothing (404).',
    [],
    [owner, repo, ref],
  ),
  '/repo/{owner}/{repo}/{sha}/{path}': file('A file of a deployment', PRIVATE, OPTIONAL, [owner, repo, sha]),
  '/repo/{owner}/{repo}/alias/{alias}/{path}': file('A file of what an alias points at', PRIVATE, OPTIONAL, [
    owner,
    repo,
    alias,
  ]),
  '/metrics': {
    get: {
      tags: ['Setup and health'],
      summary: 'Metrics as text for Prometheus',
      description: 'With METRICS_TOKEN as bearer token, or from the machine itself.',
      security: [{ metrics: [] }, {}],
      responses: {
        200: { description: 'Success', content: { 'text/plain': { schema: { type: 'string' } } } },
      },
    },
  },
}
