import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'

const role = t.Union([t.Literal('primary'), t.Literal('standby'), t.Literal('node')])

const machine = t.Object({
  name: t.String(),
  role,
  url: orNull(t.String()),
  version: t.String(),
  epoch: t.Number({ description: 'Number of the newest take-over that it knows of' }),
  number: t.Number({ description: 'The last number of the log that it has' }),
  lagMs: t.Number({ description: 'How old the oldest thing is that it has not handed over, or not applied' }),
  lastSeenAt: t.String({ description: 'When it last said so' }),
  cacheBytes: t.Number(),
  cacheHits: t.Number(),
  cacheMisses: t.Number(),
})
export type MachineView = Static<typeof machine>

const store = t.Object({
  url: t.String(),
  status: t.Union([t.Literal('ok'), t.Literal('error')]),
  error: orNull(t.String()),
  logBytes: orNull(t.Number()),
  baseAt: orNull(t.String({ description: 'When the newest copy of the whole database was made' })),
  contentBytes: orNull(t.Number()),
  objects: orNull(t.Number({ description: 'Objects that hold contents' })),
})
export type StoreView = Static<typeof store>

/** contract 18 §7. */
export const machinesView = t.Object({
  self: t.String({ description: 'The name of the machine that answers' }),
  primary: orNull(t.String({ description: 'The name of the machine that takes changes' })),
  machines: t.Array(machine),
  store: t.Union([store, t.Null()], { description: 'Null without an object store' }),
})
export type MachinesView = Static<typeof machinesView>
