export const start = {
  title: (organization: string) => `Set up ${organization}`,
  question: 'What should people get access to?',
  real: 'PostgreSQL, and any other system by a webhook, are connected with the API for now: the guides “provisioner-…” in docs/guides say how, step by step.',
  goesLive: 'The first connection that gives real access ends the rehearsal, for good.',
  reference: 'API reference',
  steps: {
    resources: '1. What can be requested',
    rules: '2. Who gets it, and how',
    people: '3. Who takes part',
  },
  rehearsal: {
    title: 'Rehearse first',
    text: 'See it work before anything is real: three accounts that exist nowhere, two rules, and your colleagues Ada and Ben. It takes two minutes.',
    begin: 'Rehearse first',
    steps: {
      ask: 'Request access to production',
      approve: 'Approve it as a colleague',
      refusal: 'Try what is not allowed',
      atOnce: 'See a rule approve at once',
    },
    stepTexts: {
      ask: 'Ada or Ben can approve. You cannot: nobody decides their own request.',
      approve: 'Your request has a button that opens a window in which you are Ben.',
      refusal: 'Administrator rights for 8 hours: read why not, and what would be allowed.',
      atOnce: 'Reading in the sandbox needs no person. You have it a second later.',
    },
    acts: { ask: 'Request it', approve: 'Open the request', refusal: 'Try it', atOnce: 'See it' },
    allDone: 'You have seen all of it. Go on with the accounts below.',
    done: 'Done',
    todo: 'To do',
  },
}
