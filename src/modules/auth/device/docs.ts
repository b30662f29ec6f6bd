/** Request bodies for the OpenAPI document: the routes take a form, as RFC 8628 has it, or JSON, and read it themselves. */

export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

type Fields = Record<string, { type: 'string'; description: string; example: string; maxLength?: number }>

const formOrJson = (properties: Fields, required: string[]) => {
  const schema = { type: 'object' as const, properties, required }
  return {
    required: required.length > 0,
    content: { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema } },
  }
}

export const codesBody = formOrJson(
  {
    clientName: {
      type: 'string',
      description: 'What the device calls itself; the person who decides sees it',
      example: 'svc on laptop',
      maxLength: 100,
    },
  },
  [],
)

export const tokenBody = formOrJson(
  {
    grant_type: { type: 'string', description: `Always ${GRANT_TYPE}`, example: GRANT_TYPE },
    device_code: {
      type: 'string',
      description: 'The `device_code` that was answered to /api/auth/device/code',
      example: 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS00',
    },
  },
  ['grant_type', 'device_code'],
)
