import { isoTime } from '../domain/iso-time.ts'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { listSchedules, type ScheduleView } from '../modules/schedules/service.ts'
import { runSchedule } from '../site/run-schedule.ts'
import { printable } from './command.ts'
import type { Lab } from './lab.ts'

const PREFIX = '/_dev/schedules/'

export const isSchedulePath = (path: string): boolean => path.startsWith(PREFIX)

/** What `svc dev` says of each schedule; it fires none by itself. */
export const schedulesText = ({ ctx }: Lab, projectId: string): string =>
  listSchedules(ctx, operatorGrant(projectId)).map(line).join('')

const line = ({ name, rule, cron, timezone, nextRunAt }: ScheduleView): string => {
  const when = nextRunAt === null ? 'off' : `next ${nextRunAt}`
  return `schedule ${printable(`${name}: ${rule} at ${cron} (${timezone})`)}, ${when} on a server; here by POST ${PREFIX}${name}\n`
}

/** Runs one by its name, and answers how that ended. */
export async function runDevSchedule(
  { ctx }: Lab,
  projectId: string,
  { path, request }: { path: string; request: Request },
): Promise<Response> {
  if (request.method !== 'POST')
    return Response.json(
      { message: 'A schedule is run by POST' },
      { status: 405, headers: { allow: 'POST' } },
    )
  if (isFromElsewhere(request)) return Response.json({ message: 'Not from here' }, { status: 403 })
  const name = path.slice(PREFIX.length)
  const schedules = listSchedules(ctx, operatorGrant(projectId))
  const schedule = schedules.find((one) => one.name === name)
  if (schedule === undefined) {
    const known = schedules.map((one) => one.name).join(', ') || 'none'
    return Response.json({ message: `There is no schedule ${name}; there are: ${known}` }, { status: 404 })
  }
  const firedAt = ctx.now()
  const outcome = await runSchedule(ctx, { id: schedule.id, projectId, name, firedAt })
  return Response.json({ scheduleId: schedule.id, firedAt: isoTime(firedAt), ...outcome })
}

function isFromElsewhere({ headers }: Request): boolean {
  const origin = headers.get('origin')
  return origin !== null && (!URL.canParse(origin) || new URL(origin).host !== headers.get('host'))
}
