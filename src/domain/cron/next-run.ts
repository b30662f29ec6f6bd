import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { Cron } from './parse.ts'
import { changeBetween, firstTimeOf, type Zone } from './zone.ts'

/**
 * The first time strictly after `after` at which the schedule runs; null if it does not come before the end of time. When
 * the clocks change as Vixie cron does it; contract 14.6.
 */
export function nextRun(cron: Cron, zone: Zone, after: number): number | null {
  const next = cron.followsRealTime ? nextOfRealTime(cron, zone, after) : nextOfLocalTime(cron, zone, after)
  return next === null || next > LAST_TIME ? null : next
}

/** The end of the year 9999: later ones have no four digits. */
const LAST_TIME = Date.UTC(10_000, 0) - 1

/**
 * Each local time that matches comes once: the first time if it comes twice, after the gap if it is skipped. A later local
 * time never comes earlier.
 */
function nextOfLocalTime(cron: Cron, zone: Zone, after: number): number | null {
  let local = nextMinute(after + zone.offsetAt(after))
  for (;;) {
    const match = nextMatch(cron, local)
    if (match === null) return null
    const { time, isSkipped } = firstTimeOf(zone, match)
    const run = isSkipped ? firstMinute(zone, time) : time
    if (run > after) return run
    local = match + MINUTE_MS
  }
}

/** Changes of a zone that are nearer to each other do not exist. */
const STEP_MS = 7 * DAY_MS

/** Each minute at which the clocks show a local time that matches, as often as they show it. */
function nextOfRealTime(cron: Cron, zone: Zone, after: number): number | null {
  let offset = zone.offsetAt(after)
  let start = after
  let local = nextMinute(after + offset)
  for (;;) {
    const match = nextMatch(cron, local)
    if (match === null) return null
    const time = match - offset
    const end = Math.min(time, start + STEP_MS)
    if (zone.offsetAt(end) !== offset) {
      start = changeBetween(zone, start, end)
      offset = zone.offsetAt(start)
      local = minuteFrom(start + offset)
    } else if (end === time) {
      return time
    } else {
      // No change that lies later leads back behind `local`, and nothing matches before `match`.
      start = Math.max(end, time - 2 * DAY_MS)
      offset = zone.offsetAt(start)
      local = nextMinute(start + offset)
    }
  }
}

const nextMinute = (local: number): number => minuteFrom(local + 1)
const minuteFrom = (local: number): number => Math.ceil(local / MINUTE_MS) * MINUTE_MS

function firstMinute(zone: Zone, time: number): number {
  const offset = zone.offsetAt(time)
  return minuteFrom(time + offset) - offset
}

/** The calendar repeats itself. */
const CYCLE_YEARS = 400

/** The first local minute from `local` on that matches. */
function nextMatch(cron: Cron, local: number): number | null {
  const start = new Date(local)
  const minuteOfDay = start.getUTCHours() * 60 + start.getUTCMinutes()
  const today = Math.floor(local / DAY_MS) * DAY_MS
  if (isDay(cron, start)) {
    const found = nextInDay(cron, minuteOfDay)
    if (found !== null) return today + found * MINUTE_MS
  }
  const day = nextDay(cron, start)
  const first = nextInDay(cron, 0)
  return day === null || first === null ? null : day + first * MINUTE_MS
}

function nextInDay({ hours, minutes }: Cron, from: number): number | null {
  const hour = Math.floor(from / 60)
  for (const one of hours) {
    if (one < hour) continue
    const minute = one > hour ? minutes[0] : minutes.find((it) => it >= from % 60)
    if (minute !== undefined) return one * (HOUR_MS / MINUTE_MS) + minute
  }
  return null
}

const isDay = (cron: Cron, date: Date): boolean =>
  cron.months[date.getUTCMonth() + 1] === true && isDayOfMonth(cron, date.getUTCDate(), date.getUTCDay())

function isDayOfMonth({ daysOfMonth, daysOfWeek, isEitherDay }: Cron, day: number, weekday: number): boolean {
  const [isOfMonth, isOfWeek] = [daysOfMonth[day] === true, daysOfWeek[weekday] === true]
  return isEitherDay ? isOfMonth || isOfWeek : isOfMonth && isOfWeek
}

/** The first day after that of `date` that matches. */
function nextDay(cron: Cron, date: Date): number | null {
  const year = date.getUTCFullYear()
  let day = date.getUTCDate() + 1
  for (let index = date.getUTCMonth(); index < (CYCLE_YEARS + 1) * 12; index += 1) {
    if (cron.months[(index % 12) + 1]) {
      const firstDay = new Date(Date.UTC(year, index, 1))
      const length = new Date(Date.UTC(year, index + 1, 0)).getUTCDate()
      for (; day <= length; day += 1)
        if (isDayOfMonth(cron, day, (firstDay.getUTCDay() + day - 1) % 7))
          return firstDay.getTime() + (day - 1) * DAY_MS
    }
    day = 1
  }
  return null
}
