export const start = {
  place: 'Set up',
  title: (organization: string) => `Set up ${organization}`,
  question: 'What should people get access to?',
  real: 'To give real access, connect AWS, PostgreSQL or any other system by a webhook. For now this is done with the API: the guides “provisioner-…” in docs/guides say how, step by step.',
  goesLive: 'The first connection that gives real access ends the rehearsal, for good.',
  reference: 'API reference',
  steps: {
    resources: '1. What can be requested',
    rules: '2. Who gets it, and how',
    people: '3. Who is there',
  },
}
