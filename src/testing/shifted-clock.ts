import { readFileSync } from 'node:fs'

/**
 * Loaded before a server whose clock a test sets back and forth (`clockOfProcess`): the file that `SVC_TEST_CLOCK` names says by how
 * many milliseconds it is ahead.
 */
const system = Date.now
const file = process.env['SVC_TEST_CLOCK'] ?? ''
Date.now = () => system() + Number(readFileSync(file, 'utf8'))
