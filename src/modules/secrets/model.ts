import { type Static, t } from 'elysia'

/** A project's secret as the API shows it: the value is never read back. contract §9.4. */
const secretView = t.Object({ name: t.String(), updatedAt: t.String() })
export type SecretView = Static<typeof secretView>

export const secretsView = t.Object({ secrets: t.Array(secretView) })
