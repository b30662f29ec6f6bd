import { dlopen } from 'bun:ffi'
import variant from '@jitl/quickjs-singlefile-mjs-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { GUEST_SOURCE } from './sandbox-guest.ts'
import { MAX_RESULT, type SandboxFailure, type SandboxJob, type SandboxReply } from './sandbox-protocol.ts'
import { type SandboxUtils, sandboxUtils } from './sandbox-utils.ts'

const PAGE = 64 * 1024
/** Enforced by the memory itself: a limit of the interpreter's own does not hold. 64 MiB. */
const MOST_PAGES = 1024
const FIRST_PAGES = 256
const STACK_BYTES = 256 * 1024

/**
 * A process that runs one function after another for the server that started it, each in a realm of its own. It is a
 * process because nothing less can be stopped for certain: some loops inside the interpreter never look at the clock.
 */
export function runSandboxProcess(): Promise<never> {
  const alarm = findAlarm()
  const ready = loadInterpreter()
  let spare: Realm | undefined
  process.on('message', async (job: SandboxJob) => {
    const interpreter = await ready
    // Ends this process even when the server is gone and the code never does.
    alarm(Math.ceil(job.timeoutMs / 1000) + 2)
    const realm = spare ?? interpreter.newRealm()
    spare = undefined
    const reply = runJob(realm, job, interpreter)
    alarm(0)
    process.send?.(reply)
    if (!reply.isSpent) spare = interpreter.newRealm()
  })
  process.on('disconnect', () => process.exit(0))
  return new Promise(() => {})
}

type Realm = {
  runtime: QuickJSRuntime
  context: QuickJSContext
  /** Every context of the runtime: the library loses track and makes another when memory grows amid a job. */
  contexts: QuickJSContext[]
  deadline: number
}
type Interpreter = { newRealm(): Realm; usedBytes(): number }

async function loadInterpreter(): Promise<Interpreter> {
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES })
  const module: QuickJSWASMModule = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory }))
  return {
    usedBytes: () => wasmMemory.buffer.byteLength,
    newRealm() {
      const runtime = module.newRuntime()
      runtime.setMaxStackSize(STACK_BYTES)
      const contexts: QuickJSContext[] = []
      const newContext = runtime.newContext.bind(runtime)
      runtime.newContext = (options) => {
        const context = newContext(options)
        contexts.push(context)
        return context
      }
      const context = runtime.newContext()
      const realm: Realm = { runtime, context, contexts, deadline: Number.POSITIVE_INFINITY }
      runtime.setInterruptHandler(() => performance.now() > realm.deadline)
      return realm
    },
  }
}

/** A process that has taken much memory, or broke, is spent. */
function runJob(realm: Realm, job: SandboxJob, interpreter: Interpreter): SandboxReply {
  const failed = (kind: SandboxFailure, message: string, isSpent: boolean): SandboxReply => ({
    ok: false,
    kind,
    message: message.slice(0, 1000),
    isSpent,
  })
  try {
    realm.deadline = performance.now() + job.timeoutMs
    const outcome = evaluateJob(realm, job)
    const isSpent = !isCleared(realm) || interpreter.usedBytes() > (MOST_PAGES * PAGE) / 2
    if (outcome.kind === 'ok') return { ok: true, json: outcome.text, isSpent }
    return failed(outcome.kind, outcome.text, isSpent)
  } catch (error) {
    const isLate = performance.now() > realm.deadline
    return failed(isLate ? 'timeout' : 'broken', String(error), true)
  }
}

/** False when the interpreter cannot let go of it: the process is good for nothing more. */
function isCleared({ runtime, contexts }: Realm): boolean {
  try {
    for (const context of contexts) context.dispose()
    runtime.dispose()
    return true
  } catch {
    return false
  }
}

type Outcome = { kind: 'ok' | SandboxFailure; text: string }

function evaluateJob(realm: Realm, job: SandboxJob): Outcome {
  const { context } = realm
  const guest = take(realm, context.evalCode(GUEST_SOURCE, 'guest.js'))
  if ('kind' in guest) return guest
  const input = context.newString(job.input)
  const host = hostObject(
    context,
    sandboxUtils(job.keys, () => Date.now()),
  )
  const call = take(realm, context.callFunction(guest.handle, context.undefined, input, host))
  if ('kind' in call) return call
  const invoke = context.getProp(call.handle, 'invoke')
  const state = context.getProp(call.handle, 'state')
  for (const handle of [guest.handle, input, host, call.handle]) handle.dispose()

  const outcome = invokeHandler(realm, job.code, invoke) ?? settle(realm, state)
  invoke.dispose()
  state.dispose()
  return outcome
}

/** Undefined when the handler was called; whatever came of it is in the guest's state, now or later. */
function invokeHandler(realm: Realm, code: string, invoke: QuickJSHandle): Outcome | undefined {
  const { context } = realm
  const declared = take(realm, context.evalCode(code, 'function.js'))
  if ('kind' in declared) return declared
  declared.handle.dispose()
  const handler = take(
    realm,
    context.evalCode("typeof handler === 'undefined' ? undefined : handler", 'handler.js'),
  )
  if ('kind' in handler) return handler
  const called = take(realm, context.callFunction(invoke, context.undefined, handler.handle))
  handler.handle.dispose()
  if ('kind' in called) return called
  called.handle.dispose()
  return undefined
}

/** Runs what was promised until the handler is done, the time is over, or nothing is left to do. */
function settle(realm: Realm, state: QuickJSHandle): Outcome {
  const { context, runtime } = realm
  while (runtime.hasPendingJob() && textOf(context, state, 'kind') === 'pending') {
    if (performance.now() > realm.deadline) return LATE
    const done = runtime.executePendingJobs(100)
    if (done.error !== undefined) {
      done.error.dispose()
      return performance.now() > realm.deadline ? LATE : { kind: 'threw', text: 'a job failed' }
    }
  }
  const kind = textOf(context, state, 'kind')
  if (kind === 'pending' && performance.now() > realm.deadline) return LATE
  if (kind === 'pending')
    return { kind: 'never_settles', text: 'the promise that the handler gave back never settles' }
  const text = textOf(context, state, 'text')
  if (kind !== 'ok') return failureOf(realm, text)
  return text.length > MAX_RESULT
    ? { kind: 'too_large', text: `the result is larger than ${MAX_RESULT} characters` }
    : { kind: 'ok', text }
}

const LATE: Outcome = { kind: 'timeout', text: 'the time is over' }

function failureOf(realm: Realm, message: string): Outcome {
  if (performance.now() > realm.deadline) return LATE
  if (message === 'out of memory') return { kind: 'memory', text: 'the memory is used up' }
  return { kind: 'threw', text: message }
}

function textOf(context: QuickJSContext, object: QuickJSHandle, name: string): string {
  const handle = context.getProp(object, name)
  const text = context.getString(handle)
  handle.dispose()
  return text
}

type Taken = { handle: QuickJSHandle } | Outcome

function take(realm: Realm, result: ReturnType<QuickJSContext['evalCode']>): Taken {
  if (result.error === undefined) return { handle: result.value }
  const { context } = realm
  const message = context.getProp(result.error, 'message')
  const text = context.typeof(message) === 'string' ? context.getString(message) : 'the code threw'
  message.dispose()
  result.error.dispose()
  return failureOf(realm, text)
}

/** Functions that take texts and numbers and give back a text or null: nothing of this process can be reached by them. */
function hostObject(context: QuickJSContext, utils: SandboxUtils): QuickJSHandle {
  const object = context.newObject()
  const define = (name: keyof SandboxUtils, work: (...given: QuickJSHandle[]) => string | null) => {
    const handle = context.newFunction(name, (...given) => {
      const result = work(...given)
      return result === null ? context.null : context.newString(result)
    })
    context.setProp(object, name, handle)
    handle.dispose()
  }
  const text = (handle: QuickJSHandle | undefined) => (handle === undefined ? '' : context.getString(handle))
  const number = (handle: QuickJSHandle | undefined) => (handle === undefined ? 0 : context.getNumber(handle))
  define('sha256', (given) => utils.sha256(text(given)))
  define('hmacSha256', (key, given) => utils.hmacSha256(text(key), text(given)))
  define('randomToken', (bytes) => utils.randomToken(number(bytes)))
  define('randomUUID', () => utils.randomUUID())
  define('base64urlEncode', (given) => utils.base64urlEncode(text(given)))
  define('base64urlDecode', (given) => utils.base64urlDecode(text(given)))
  define('sign', (json, seconds) => utils.sign(text(json), number(seconds)))
  define('verify', (token) => utils.verify(text(token)))
  return object
}

/** The system's `alarm`, whose signal ends a process that does not expect it; nothing where it cannot be had. */
function findAlarm(): (seconds: number) => void {
  const names = process.platform === 'darwin' ? ['libSystem.B.dylib'] : ['libc.so.6', 'libc.so']
  for (const name of names) {
    try {
      const { symbols } = dlopen(name, { alarm: { args: ['u32'], returns: 'u32' } })
      return (seconds) => void symbols.alarm(seconds)
    } catch {
      // Another C library: the next name, or none.
    }
  }
  return () => {}
}
