/** Request bodies of the uploads for the OpenAPI document: the routes read them without a schema. */

type Schema = Record<string, unknown>

const text = (description: string, example?: string): Schema => ({
  type: 'string',
  description,
  ...(example === undefined ? {} : { example }),
})
const binary = (description: string): Schema => ({ type: 'string', format: 'binary', description })

const targetFields: Record<string, Schema> = {
  owner: text('Repository owner', 'acme'),
  repo: text('Repository name', 'docs'),
  repository: text('owner/repo, instead of owner and repo', 'acme/docs'),
  commitSha: text('7 to 64 hexadecimal digits', '3f2a9c1d'),
}

const aboutFields: Record<string, Schema> = {
  branch: text('Branch name', 'main'),
  description: text('Shown in lists of deployments'),
  alias: text('Alias to point here, created if there is none', 'production'),
  preview: text('Preview to point here, in place of alias: an alias with an end', 'pr-12'),
  expiresIn: text(
    'How long the preview stays after this publish: hours, days or weeks, 1h to 365d; by default as before, else previewDays of the project',
    '7d',
  ),
  pullRequest: text('Number of the pull request that the preview shows', '12'),
  pullRequestUrl: text('Its http or https address', 'https://github.com/acme/docs/pull/12'),
  isPublic: text('true or false: for a project that this upload creates', 'false'),
  basePath: text(
    'Folder of the deployment that its hosts serve; what the newest version of the commit has elsewhere is kept',
    '/dist',
  ),
  append: text(
    'true: what the newest version of the commit has is kept, and these files are added to it',
    'false',
  ),
  baseSha: text('The commit that a changed working tree stood on, whose own SHA the contents do not have'),
  committedAt: text('ISO 8601 time of the commit', '2026-11-20T12:00:00Z'),
  tags: text('Repeated or comma-separated'),
  force: text('true: the alias or preview moves although checks of the release fail', 'true'),
  ask: text(
    'true: where the alias would show no start page, although there is one deeper or it shows one now, it stays, and the answer asks',
    'true',
  ),
  unwrap: text(
    'true: if there is no index.html at the top, and the only folder there has one, that folder is taken away',
    'true',
  ),
}

const workflowFields: Record<string, Schema> = {
  workflowName: text('CI workflow name'),
  workflowRunId: text('CI workflow run id'),
}

const ruleSetFields: Record<string, Schema> = {
  proxyRuleSetName: text('Rule sets to attach to the alias, by name; repeated or comma-separated'),
  proxyRuleSetId: text('The same by id'),
  proxyRuleSetNames: text('The same as proxyRuleSetName'),
  proxyRuleSetIds: text('The same as proxyRuleSetId'),
}

/** The fields that every way of publishing takes. */
const fields: Record<string, Schema> = {
  ...targetFields,
  ...aboutFields,
  ...workflowFields,
  ...ruleSetFields,
}

const object = (properties: Record<string, Schema>, required: string[]) => ({
  schema: { type: 'object' as const, properties, required },
})

const manyFiles: Record<string, Schema> = {
  file: {
    type: 'array',
    items: { type: 'string', format: 'binary' },
    description:
      'The files, in parts named file or files; the file name of a part, including slashes, is its path',
  },
  filePaths: text('JSON array of paths, instead of the file names', '["index.html","css/main.css"]'),
}

const filesForm = object({ ...manyFiles, ...fields }, ['file', 'commitSha'])

const archive = (what: string) => ({ schema: { ...binary(what), type: 'string' as const } })

const asFiles = text(
  'true: a lone zip, tar, tar.gz or tgz is published as a file; else it is refused',
  'true',
)

export const filesBody = { required: true, content: { 'multipart/form-data': filesForm } }

export const deploymentBody = {
  required: true,
  description:
    'A form of files, or an archive with the fields in the query string. Of an archive the bytes tell the format: also without a type, and with the types that curl and other programs send',
  content: {
    'multipart/form-data': object({ ...manyFiles, ...fields, asFiles }, ['file', 'commitSha']),
    'application/octet-stream': archive('A zip, tar or tar.gz archive'),
    'application/gzip': archive('A tar archive, compressed with gzip'),
    'application/x-tar': archive('A tar archive'),
    'application/zip': archive('A zip archive'),
  },
}

export const zipBody = {
  required: true,
  content: {
    'multipart/form-data': object(
      {
        file: binary('The zip archive, first or last in the form'),
        ...fields,
      },
      ['file', 'commitSha'],
    ),
  },
}

export const manifestBody = {
  required: true,
  content: {
    'application/json': object(
      {
        ...fields,
        files: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              path: text('Path in the deployment', 'index.html'),
              size: { type: 'integer', description: 'Bytes' },
              sha256: text('SHA-256 of the content in hex'),
            },
            required: ['path', 'size', 'sha256'],
          },
        },
        isPublic: { type: 'boolean', description: 'For a project that this upload creates' },
        append: { type: 'boolean', description: String(fields['append']?.['description']) },
        force: { type: 'boolean', description: String(fields['force']?.['description']) },
        unwrap: { type: 'boolean', description: String(fields['unwrap']?.['description']) },
        pullRequest: { type: 'integer', description: String(fields['pullRequest']?.['description']) },
        tags: { type: 'array', items: { type: 'string' } },
      },
      ['commitSha', 'files'],
    ),
  },
}

export const contentsBody = {
  description: 'The missing contents, each named by its SHA-256; empty when nothing is missing',
  content: { 'application/x-tar': archive('A tar archive') },
}

/** The fields in the query string of a raw archive. */
export const archiveQuery = Object.entries(fields).map(([name, { description, example }]) => ({
  name,
  in: 'query' as const,
  required: false,
  description: `${String(description)} (of a raw archive)`,
  schema: { type: 'string' as const },
  ...(example === undefined ? {} : { example }),
}))
