/** How long to measure: rounds of every subject in turn, and seconds of load in each. */
export type Pace = { rounds: number; seconds: number }
