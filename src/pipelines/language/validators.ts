import { Type } from 'typebox'

/** What the checks that run before the steps of a pipeline may be told. contract §9.3. */
export const VALIDATOR_CONFIGS = {
  auth_required: Type.Object(
    {
      roles: Type.Optional(
        Type.Array(Type.String(), {
          description: 'global or project roles; a higher project role is enough',
        }),
      ),
      allowApiKey: Type.Optional(Type.Boolean({ description: 'whether a key of the project is enough' })),
      requiredScopes: Type.Optional(
        Type.Array(Type.String(), {
          description: 'scopes that an API key needs: keys have none, so only people pass',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  rate_limit: Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      windowSeconds: Type.Integer({ minimum: 1, maximum: 30 * 24 * 3600 }),
      keyBy: Type.Optional(Type.Union([Type.Literal('ip'), Type.Literal('user')])),
    },
    { additionalProperties: false },
  ),
}

export type ValidatorType = keyof typeof VALIDATOR_CONFIGS
export type ValidatorConfig<T extends ValidatorType> = Type.Static<(typeof VALIDATOR_CONFIGS)[T]>

export const isValidatorType = (type: string): type is ValidatorType => Object.hasOwn(VALIDATOR_CONFIGS, type)
