import { AppError } from '../../domain/errors.ts'
import { plainPath } from '../../domain/plain-path.ts'
import { RESOURCE_METADATA_PATH } from '../../domain/resource-metadata.ts'
import { Answer, type Runner } from '../runner.ts'

export const oauthProtectedResourceRunner: Runner = {
  run({ asker, input }, config) {
    const resource = String(config['resource'])
    const path = plainPath(input.path)
    if (path !== RESOURCE_METADATA_PATH && path !== plainPath(RESOURCE_METADATA_PATH + resource))
      throw new AppError('not_found', `Only ${resource} is described here`)
    if (input.method !== 'GET' && input.method !== 'HEAD')
      throw new AppError('method_not_allowed', 'This can only be read', { headers: { allow: 'GET, HEAD' } })
    const { scopes, resourceName, resourceDocumentation, authorizationServers } = config
    const described = {
      resource: `${asker?.origin ?? ''}${resource}`,
      bearer_methods_supported: ['header'],
      scopes_supported: scopes,
      resource_name: resourceName,
      resource_documentation: resourceDocumentation,
      authorization_servers: authorizationServers,
    }
    return new Answer({
      status: 200,
      headers: [
        ['content-type', 'application/json'],
        ['cache-control', 'public, max-age=300'],
      ],
      body: JSON.stringify(described),
    })
  },
}
