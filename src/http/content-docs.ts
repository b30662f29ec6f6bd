/**
 * Paths that the admin host serves besides the API's own routes, for the OpenAPI document. The first three accept any
 * method for a site's rules; a file accepts GET and HEAD. spec: Public access; contract §1 Hosts, §11.
 */

type Parameter = { name: string; description: string; example: string }

const owner: Parameter = { name: 'owner', description: 'Repository owner', example: 'acme' }
const repo: Parameter = { name: 'repo', description: 'Repository name', example: 'docs' }
const ref: Parameter = { name: 'ref', description: 'Name of an alias, or a SHA', example: 'production' }
const alias: Parameter = { name: 'alias', description: 'Name of an alias', example: 'production' }
const sha: Parameter = {
  name: 'sha',
  description: 'A SHA, or at least 7 digits if they are unambiguous',
  example: '3f2a9c1d',
}
const path: Parameter = {
  name: 'path',
  description: 'Path of the file. Write slashes unencoded (the explorer would encode them)',
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

/** Anonymous, or with whatever credential the request carries. */
const OPTIONAL = [{}, { apiKey: [] }, { bearerKey: [] }, { session: [] }]

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
      302: { description: 'A browser that opens a page is redirected to the host of the site' },
      308: { description: 'The same folder with a trailing slash' },
    },
  },
})

const PRIVATE = 'A private project is only visible to people who may see it; others get 404.'

export const contentPaths: Record<string, object> = {
  '/public/{owner}/{repo}/{ref}/{path}': file(
    'A file of a public site',
    'Ignores credentials: a private project returns 404.',
    [],
    [owner, repo, ref],
  ),
  '/repo/{owner}/{repo}/{sha}/{path}': file('A file of a deployment', PRIVATE, OPTIONAL, [owner, repo, sha]),
  '/repo/{owner}/{repo}/alias/{alias}/{path}': file(
    'A file of the deployment that an alias points to',
    PRIVATE,
    OPTIONAL,
    [owner, repo, alias],
  ),
  '/metrics': {
    get: {
      tags: ['Setup and health'],
      summary: 'Metrics as text for Prometheus',
      description: 'Requires METRICS_TOKEN as bearer token, or a request from the machine itself.',
      security: [{ metrics: [] }, {}],
      responses: {
        200: { description: 'Success', content: { 'text/plain': { schema: { type: 'string' } } } },
      },
    },
  },
}
