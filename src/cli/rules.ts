import { type Command, CommandFailure, EXIT, type Io, printableJson, UsageError } from './command.ts'
import { LAB_HELP } from './lab-settings.ts'
import { devRules } from './rules/dev.ts'
import { initRules } from './rules/init.ts'
import { pullRules } from './rules/pull.ts'
import { diffRules, pushRules } from './rules/push.ts'
import {
  counted,
  loadSets,
  type RulesFlags,
  readRulesFlags,
  requireValid,
  sourceOf,
} from './rules/settings.ts'
import { testRules } from './rules/test.ts'
import { systemErrorOf } from './system-error.ts'

const USAGE = `usage: svc rules init [NAME] [--rule "POST /api/messages"] [--schema messages]
       svc rules validate|build|test|push|diff|dev [DIR…] [FLAGS]
       svc rules pull NAME… [FLAGS]

Rules as code: rule sets kept as YAML files below .svc/proxy-rules. Without DIR, the "ruleSets" of .svc/config.json.

  init      write a rule set that works; overwrites nothing; at a terminal it asks for what was not said
  validate  say all that is wrong with the files
  build     print what would be sent
  test      run *.rule.test.yaml and *.fn.test.yaml on a service of their own, in memory
  push      plan every set, then apply them all
  pull      write sets of the server into .svc/proxy-rules/NAME
  diff      0: the server has what the files say; 1: it has not; 2: an error
  dev       validate and test at every change; with --name-suffix push the copy of that name too

  --api-url URL         the server; else SVC_API_URL, else "apiUrl" in .svc/config.json
  --project OWNER/REPO  else "project" in .svc/config.json, else the git remote origin
  --prune               delete what the other side does not have
  --dry-run             say what would be, and change nothing
  --strict-schemas      refuse a field whose type on the server is another
  --name-suffix TEXT    push as NAME-TEXT: pr-12, preview and dev make preview copies
  --json                print JSON on stdout

Of test and dev:
${LAB_HELP}
  SVC_HEADER_X_KEY=value        in the environment: the value of the secret header x-key of a proxy rule

The key comes from SVC_API_KEY, else from svc login. A proxy of HTTPS_PROXY or HTTP_PROXY is used, except for the hosts of NO_PROXY.
Exit code: 0; 1 invalid or refused; 2 wrong usage; 3 server not reachable; 78 a bad setting.`

export const rulesCommand: Command = {
  summary: 'Rules as code: init, validate, build, test, push, pull, diff, dev',
  usage: USAGE,
  get verbs() {
    return Object.keys(VERBS)
  },
  async run(args, io) {
    const { words, flags } = readRulesFlags(args)
    const [verb, ...rest] = words
    const run = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
    if (run === undefined) throw new UsageError(`which of ${Object.keys(VERBS).join(', ')}?`)
    try {
      return await run(rest, flags, io)
    } catch (error) {
      throw verb === 'diff' ? asDiffError(error) : error
    }
  },
}

type Run = (words: string[], flags: RulesFlags, io: Io) => Promise<number> | number

const VERBS: Readonly<Record<string, Run>> = {
  init: initRules,
  validate: validateRules,
  build: buildRules,
  test: testRules,
  push: pushRules,
  pull: pullRules,
  diff: diffRules,
  dev: (words, flags, io) => devRules(words, flags, io),
}

/** For diff, 1 means that something differs, so a refusal, also of the machine, is exit code 2. */
function asDiffError(error: unknown): unknown {
  const isRefusal = error instanceof CommandFailure && error.exitCode === EXIT.failed
  const refused = isRefusal ? error : systemErrorOf(error)
  return refused === undefined ? error : new CommandFailure(refused.message, EXIT.usage, { cause: error })
}

async function validateRules(words: string[], flags: RulesFlags, io: Io): Promise<number> {
  const sets = requireValid(await loadSets(words, io), flags, io)
  if (flags.json) io.stdout.write(`${printableJson({ valid: true, problems: [] })}\n`)
  else
    for (const { shown, push } of sets)
      io.stdout.write(
        `${shown}: ${counted(push.rules.length, 'rule')}, ${counted(push.schemas.length, 'schema')}, all valid\n`,
      )
  return EXIT.ok
}

async function buildRules(words: string[], flags: RulesFlags, io: Io): Promise<number> {
  const sets = requireValid(await loadSets(words, io), flags, io)
  const bodies = await Promise.all(
    sets.map(async (set) => ({ ...set.push, source: await sourceOf(set, io) })),
  )
  io.stdout.write(`${printableJson(bodies.length === 1 ? bodies[0] : bodies, 2)}\n`)
  return EXIT.ok
}
