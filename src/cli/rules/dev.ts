import { messageOf } from '../../domain/errors.ts'
import { formatProblem } from '../../domain/file-problems.ts'
import { signalled } from '../../platform/signalled.ts'
import { EXIT, type Io, printable } from '../command.ts'
import { devSettings } from '../lab-settings.ts'
import { watchFolder } from '../watch-folder.ts'
import { pushRules } from './push.ts'
import { type LoadedSet, loadSet, loadSets, type RulesFlags, writeWarnings } from './settings.ts'
import { runTests, writeResults } from './test.ts'

/**
 * Checks and tests the sets at every change until interrupted. With `--name-suffix`, a set that passes is also pushed, as a
 * copy under that name and never over what is live.
 */
export async function devRules(
  words: string[],
  flags: RulesFlags,
  io: Io,
  stopped = signalled(),
): Promise<number> {
  const sets = await loadSets(words, io)
  const settings = devSettings(flags, io.env)
  let running: Promise<void> = Promise.resolve()
  const lookAgain = () => {
    running = running.then(() => look(sets, settings, flags, io))
    return running
  }
  const watched = sets.map(({ folder }) => watchFolder(folder, lookAgain))
  io.stdout.write(`watching ${sets.map(({ shown }) => printable(shown)).join(', ')} until Ctrl+C\n`)
  lookAgain()
  await stopped
  await Promise.all(watched.map((close) => close()))
  await running
  return EXIT.ok
}

/** An error is printed and waits for the next change: a file may disappear while it is read. */
async function look(
  sets: readonly LoadedSet[],
  settings: Record<string, string>,
  flags: RulesFlags,
  io: Io,
): Promise<void> {
  try {
    const fresh = await Promise.all(sets.map(({ folder }) => loadSet(folder, io)))
    const problems = fresh.flatMap(({ compiled }) => compiled.problems)
    writeWarnings(fresh, io)
    for (const problem of problems) io.stderr.write(`${printable(formatProblem(problem))}\n`)
    if (problems.length > 0) return
    const { results, problems: wrong } = await runTests(fresh, settings, io.env)
    writeResults(results, wrong, io)
    const isGood = wrong.length === 0 && results.every(({ failure }) => failure === null)
    if (isGood && flags['name-suffix'])
      await pushRules(
        sets.map(({ folder }) => folder),
        flags,
        io,
      )
  } catch (error) {
    io.stderr.write(`${printable(messageOf(error))}\n`)
  }
}
