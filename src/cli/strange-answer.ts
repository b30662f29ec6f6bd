import { CommandFailure } from './command.ts'

/** Something answers in the place of the API that is no svc. */
export function strangeAnswer(): CommandFailure {
  return new CommandFailure('the server answered what no svc answers; is it the address of the API?')
}
