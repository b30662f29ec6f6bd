import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { inUpkeepTransaction } from '../../db/tidying.ts'
import { tellAdmins } from '../notices/tell.ts'
import { diskLow } from '../notices/texts.ts'
import { listListeners, tellHooks } from '../webhooks/outbox.ts'
import { type DiskSpace, diskSpace } from './floor.ts'

const LOW_TIMES = 2
const AMPLE_TIMES = 3

/**
 * Tells the hooks and the admins when free space falls below twice the floor, and again only after it was over three times. Looked at each
 * minute, at the start and at each 507. contract 16 §4.
 */
export function lookAtDisk(ctx: Context): void {
  const { freeBytes, totalBytes, floorBytes } = diskSpace(ctx)
  if (freeBytes > AMPLE_TIMES * floorBytes) forget(ctx)
  else if (freeBytes < LOW_TIMES * floorBytes) tellOnce(ctx, { freeBytes, totalBytes, floorBytes })
}

/** Without a hook for it and a mail server nothing is told, so a hook that is made later is. */
function tellOnce(ctx: Context, space: Omit<DiskSpace, 'isLow'>): void {
  const isHeard = listListeners(ctx.db, 'disk.low', null).length > 0 || ctx.mail.isConfigured
  if (!isHeard || wasTold(ctx.db)) return
  inUpkeepTransaction(ctx.db, (tx) => {
    prepared(ctx.db, 'INSERT INTO low_disk_notices (told_at) VALUES (?)').run(ctx.now())
    tellHooks(ctx, tx, {
      event: 'disk.low',
      actor: { kind: 'operator' },
      projectId: null,
      data: () => space,
    })
    const text = diskLow(space, ctx.adminUrl())
    tellAdmins(ctx, tx, { notice: 'diskLow', about: '', text, isDue: () => true })
  })
}

/** The same where nobody waits for it. */
export function lookAtDiskSoon(ctx: Context): void {
  try {
    lookAtDisk(ctx)
  } catch (error) {
    ctx.log.error('the free disk space could not be looked at', { error })
  }
}

function forget({ db }: Context): void {
  if (wasTold(db)) inUpkeepTransaction(db, () => void prepared(db, 'DELETE FROM low_disk_notices').run())
}

const wasTold = (db: Db): boolean => prepared(db, 'SELECT 1 FROM low_disk_notices').get() !== null
