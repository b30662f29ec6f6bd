import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { RESOURCE_METADATA_PATH } from '../../../domain/resource-metadata.ts'
import { parseWebUrl } from '../../../domain/web-url.ts'
import type { Handler } from '../handler.ts'
import { flawOfLiteralPath, textList } from './words.ts'

export const oauthProtectedResourceHandler: Handler<'oauth_protected_resource'> = {
  names: ['oauth_protected_resource'],
  summary: `Tells programs how to get access to a part of the site, such as an \`mcp_handler\` (RFC 9728): at \`${RESOURCE_METADATA_PATH}\`, and at that followed by the path of the resource. Everybody may read it, on a private site too; of the rule only this step runs.`,
  result: 'none: it is the response.',
  config: Type.Object(
    {
      resource: Type.String({ description: 'the path of what is protected, such as `/api/mcp`' }),
      scopes: Type.Optional(Type.Array(Type.String(), { description: 'the scopes that one may ask for' })),
      resourceName: Type.Optional(Type.String({ description: 'its name for people' })),
      resourceDocumentation: Type.Optional(Type.String({ description: 'the address of its documentation' })),
      authorizationServers: Type.Optional(
        Type.Array(Type.String(), { description: 'who gives tokens for it: https addresses' }),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: () => true,
  check: ({ resource, authorizationServers }) => [
    ...flawOfLiteralPath('resource', resource),
    ...checkServers(authorizationServers),
  ],
}

const checkServers = (given: unknown): ErrorDetail[] =>
  textList(given).flatMap((server, i) =>
    parseWebUrl(server)?.protocol === 'https:'
      ? []
      : [{ path: `authorizationServers[${i}]`, message: 'must be an https address' }],
  )
