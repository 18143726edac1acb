/** Faster than AWS allows and than safe beside other processes, even while all calls are throttled. */
export const quickLimits = {
  callsASecond: 5_000,
  operations: 500,
  readsASecond: 5_000,
  leastCallsASecond: 50,
  repeatMs: 300,
  retryMs: 10,
}
