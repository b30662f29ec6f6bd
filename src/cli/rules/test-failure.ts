/** Why a test cannot be run as it is written. */
export class TestFailure extends Error {}
