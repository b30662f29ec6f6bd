import { byteSize, byteSizeFrom, type PlainOption, wholeNumber } from './values.ts'

/** Settings of records, files and functions. contract 14.1. */
export type PipelinesConfig = {
  maxRecordBytes: number
  /** 0: no bound. */
  projectFilesBytes: number
  sandboxProcesses: number
}

/** A record may be allowed to be this large. The pipelines read no larger bodies. */
export const LARGEST_RECORD_BYTES = 10 * 2 ** 20

export const PIPELINES_OPTIONS: { [K in keyof PipelinesConfig]: PlainOption<PipelinesConfig[K]> } = {
  maxRecordBytes: {
    env: 'MAX_RECORD_BYTES',
    help: 'maximum size of the fields of a record, as JSON',
    shownDefault: '2097152 (2 MiB)',
    fallback: () => 2 * 2 ** 20,
    parse: byteSizeFrom(2 ** 10, LARGEST_RECORD_BYTES),
  },
  projectFilesBytes: {
    env: 'PROJECT_FILES_BYTES',
    help: 'bytes that the files of one project may have together; 0 for no bound',
    shownDefault: '10737418240 (10 GiB)',
    fallback: () => 10 * 2 ** 30,
    parse: (text) => (text === '0' ? { value: 0 } : byteSize(text)),
  },
  sandboxProcesses: {
    env: 'SANDBOX_PROCESSES',
    help: 'functions of pipelines that may run at once; 4 of one owner',
    shownDefault: '16',
    fallback: () => 16,
    parse: wholeNumber(4, 64),
  },
}
