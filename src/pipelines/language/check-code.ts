import { messageOf } from '../../domain/errors.ts'

/** Where a code is wrong. `line` and `column` count from 1. */
export type CodeFlaw = { message: string; line: number; column: number }

const transpiler = new Bun.Transpiler({ loader: 'js', deadCodeElimination: false, trimUnusedImports: false })

/** What keeps a script for `function_handler` from ever working, or null. Parses the script and never runs it. */
export function flawOfCode(code: string): CodeFlaw | null {
  // Only a name that is declared at the top can be exported.
  const exported = parsed(`${code}\nexport { handler }`)
  if ('imports' in exported && exported.imports === 0 && exported.exports === 1) return null
  const script = parsed(code)
  if ('flaw' in script) return script.flaw
  if (script.imports + script.exports > 0)
    return atStart('must be a script that declares handler, without import and export')
  const isDeclared = 'imports' in exported || !exported.flaw?.message.includes('is not declared')
  return isDeclared || MAY_DECLARE.test(code)
    ? null
    : atStart('must declare a function named handler, such as const handler = ({ request }) => …')
}

/** Declares it in ways that an export does not see: by an assignment, in a block, on the global object. */
const MAY_DECLARE = /(?<!exports\.)\bhandler\s*=(?!=)|\bfunction\s+handler\b|\bglobalThis\b/

const atStart = (message: string): CodeFlaw => ({ message, line: 1, column: 1 })

type Parsed = { imports: number; exports: number } | { flaw: CodeFlaw | null }

function parsed(code: string): Parsed {
  try {
    const { imports, exports } = transpiler.scan(code)
    return {
      imports: imports.filter(({ kind }) => kind === 'import-statement').length,
      exports: exports.length,
    }
  } catch (error) {
    return { flaw: flawOf(error) }
  }
}

/** Old manners and deep nesting, which the parser of the sandbox accepts and this one does not. */
const ACCEPTED =
  /^Maximum call stack size|HTML comments|bound multiple times|"await" here|it is a constant|^Syntax Error$/

function flawOf(error: unknown): CodeFlaw | null {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  const message = messageOf(first)
  if (ACCEPTED.test(message)) return null
  const at = first instanceof BuildMessage ? first.position : null
  return { message, line: at?.line ?? 1, column: at?.column ?? 1 }
}
