import { dlopen } from 'bun:ffi'
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import variant from '@jitl/quickjs-singlefile-mjs-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { GUEST_SOURCE } from './guest.ts'
import { MAX_RESULT, type SandboxFailure, type SandboxJob, type SandboxResult } from './protocol.ts'
import { type SandboxUtils, sandboxUtils } from './utils.ts'

const PAGE = 64 * 1024
/** Enforced by the size of the memory, because the interpreter's own limit is not reliable. 64 MiB. */
const MAX_PAGES = 1024
const FIRST_PAGES = 256
const STACK_BYTES = 256 * 1024
/** Functions yield to the server and its files, which share the processors with them. */
const NICENESS = 7
/** When memory runs out, the system kills a function rather than the server. From -1000 to 1000, see proc(5). */
const OOM_SCORE = 600
/** The clock of this process, which has no Context. */
const now = (): number => Date.now()

/**
 * Runs one function after another for the server that started it, each in a realm of its own. It is a separate process
 * because nothing else can be stopped reliably: some loops inside the interpreter never check the clock.
 */
export function runSandboxProcess(): Promise<never> {
  giveWay()
  const alarm = findAlarm()
  const ready = loadInterpreter()
  let spare: Realm | undefined
  process.on('message', async (job: SandboxJob) => {
    const interpreter = await ready
    // Ends this process even if the server is gone and the code never stops.
    alarm(Math.ceil(job.timeoutMs / 1000) + 2)
    const realm = spare ?? interpreter.newRealm()
    spare = undefined
    const { result, isBroken } = runJob(realm, job)
    process.send?.({ result })
    // Happens while the result is on its way, so nobody waits for the old realm to be cleared and the next one to be
    // made.
    const isSpent = isBroken || !isCleared(realm) || interpreter.usedBytes() > (MAX_PAGES * PAGE) / 2
    alarm(0)
    if (!isSpent) spare = interpreter.newRealm()
    process.send?.({ isSpent })
  })
  process.on('disconnect', () => process.exit(0))
  return new Promise(() => {})
}

type Realm = {
  runtime: QuickJSRuntime
  context: QuickJSContext
  /** Every context of the runtime: the library creates another, and loses track of it, if memory grows during a job. */
  contexts: QuickJSContext[]
  deadline: number
  /** Starts a job with the input and the functions of the host. */
  guest: QuickJSHandle
  host: QuickJSHandle
  /** Implements the functions of the host for the current job, with its keys. */
  utils: SandboxUtils
}
type Interpreter = { newRealm(): Realm; usedBytes(): number }

async function loadInterpreter(): Promise<Interpreter> {
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: MAX_PAGES })
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
      const guest = context.unwrapResult(context.evalCode(GUEST_SOURCE, 'guest.js'))
      const utils = sandboxUtils([], now)
      const deadline = Number.POSITIVE_INFINITY
      const realm: Realm = { runtime, context, contexts, deadline, guest, host: context.newObject(), utils }
      defineHost(realm)
      runtime.setInterruptHandler(() => performance.now() > realm.deadline)
      return realm
    },
  }
}

/** `isBroken`: the failure may have damaged the interpreter. */
function runJob(realm: Realm, job: SandboxJob): { result: SandboxResult; isBroken: boolean } {
  const failed = (kind: SandboxFailure, message: string): SandboxResult => ({
    ok: false,
    kind,
    message: message.slice(0, 1000),
  })
  try {
    realm.deadline = performance.now() + job.timeoutMs
    const { kind, text } = evaluateJob(realm, job)
    return { result: kind === 'ok' ? { ok: true, json: text } : failed(kind, text), isBroken: false }
  } catch (error) {
    const isLate = performance.now() > realm.deadline
    return { result: failed(isLate ? 'timeout' : 'broken', String(error)), isBroken: true }
  }
}

/** False if the interpreter cannot release it: the process must not be used again. */
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
  const { context, guest, host } = realm
  realm.utils = sandboxUtils(job.keys, now)
  const input = context.newString(job.input)
  const call = take(realm, context.callFunction(guest, context.undefined, input, host))
  if ('kind' in call) return call
  const invoke = context.getProp(call.handle, 'invoke')
  const state = context.getProp(call.handle, 'state')
  for (const handle of [guest, input, host, call.handle]) handle.dispose()

  const outcome = invokeHandler(realm, job.code, invoke) ?? settle(realm, state)
  invoke.dispose()
  state.dispose()
  return outcome
}

/**
 * Appended to the author's code, because one script is cheaper than two. Its value is the value of the whole script.
 */
const HANDLER = "\n;typeof handler === 'undefined' ? undefined : handler"

/** Undefined once the handler was called. Its result then appears in the guest's state, now or later. */
function invokeHandler(realm: Realm, code: string, invoke: QuickJSHandle): Outcome | undefined {
  const { context } = realm
  const handler = take(realm, context.evalCode(`${code}${HANDLER}`, 'function.js'))
  if ('kind' in handler) return handler
  const called = take(realm, context.callFunction(invoke, context.undefined, handler.handle))
  handler.handle.dispose()
  if ('kind' in called) return called
  called.handle.dispose()
  return undefined
}

/** Runs pending promise jobs until the handler is done, the time is over, or nothing is left to do. */
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
    return { kind: 'never_settles', text: 'the promise that the handler returned never settles' }
  const text = textOf(context, state, 'text')
  if (kind !== 'ok') return failureOf(realm, text)
  return text.length > MAX_RESULT
    ? { kind: 'too_large', text: `the result is larger than ${MAX_RESULT} characters` }
    : { kind: 'ok', text }
}

const LATE: Outcome = { kind: 'timeout', text: 'the time is over' }

function failureOf(realm: Realm, message: string): Outcome {
  if (performance.now() > realm.deadline) return LATE
  if (message === 'out of memory') return { kind: 'memory', text: 'the memory limit was reached' }
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

/**
 * The host functions take texts and numbers and return a text or null, so nothing of this process is reachable through
 * them.
 */
function defineHost(realm: Realm): void {
  const { context, host } = realm
  const define = (name: keyof SandboxUtils, work: (...given: QuickJSHandle[]) => string | null) => {
    const handle = context.newFunction(name, (...given) => {
      const result = work(...given)
      return result === null ? context.null : context.newString(result)
    })
    context.setProp(host, name, handle)
    handle.dispose()
  }
  const text = (handle: QuickJSHandle | undefined) => (handle === undefined ? '' : context.getString(handle))
  const number = (handle: QuickJSHandle | undefined) => (handle === undefined ? 0 : context.getNumber(handle))
  define('sha256', (given) => realm.utils.sha256(text(given)))
  define('hmacSha256', (key, given) => realm.utils.hmacSha256(text(key), text(given)))
  define('randomToken', (bytes) => realm.utils.randomToken(number(bytes)))
  define('randomUUID', () => realm.utils.randomUUID())
  define('base64urlEncode', (given) => realm.utils.base64urlEncode(text(given)))
  define('base64urlDecode', (given) => realm.utils.base64urlDecode(text(given)))
  define('sign', (json, seconds) => realm.utils.sign(text(json), number(seconds)))
  define('verify', (token) => realm.utils.verify(text(token)))
}

function giveWay(): void {
  try {
    setPriority(NICENESS)
  } catch {
    // Not permitted: functions keep the normal priority.
  }
  try {
    writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE))
  } catch {
    // Only Linux has this.
  }
}

/**
 * The `alarm` of the system, whose signal ends a process that does not handle it. Does nothing if it is not available.
 */
function findAlarm(): (seconds: number) => void {
  const names = process.platform === 'darwin' ? ['libSystem.B.dylib'] : ['libc.so.6', 'libc.so']
  for (const name of names) {
    try {
      const { symbols } = dlopen(name, { alarm: { args: ['u32'], returns: 'u32' } })
      return (seconds) => void symbols.alarm(seconds)
    } catch {
      // Another C library: try the next name.
    }
  }
  return () => {}
}
