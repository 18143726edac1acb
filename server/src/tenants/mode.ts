/**
 * A tenant in rehearsal may try everything without effect: what no provisioner serves is given in the sandbox. A live tenant gives
 * real access, and refuses what nothing serves. It goes live once, and never back.
 */
export type Mode = 'rehearsal' | 'live'
