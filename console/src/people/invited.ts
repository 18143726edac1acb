/** What happened to users, newest first, as far as it says who was invited and who is here. */
type Happened = { type: string; subject: { id: string } }

/** The events that say it. Nothing else lists invited people. */
export const invitationEvents = ['user.invited', 'user.joined', 'user.linked', 'user.deleted'] as const

/**
 * The users who were invited and have neither joined nor been deleted, the last invited first. The events may begin after an invitation: whom
 * they do not name as invited is not found.
 */
export function invitedUsers(events: readonly Happened[]): string[] {
  const invited = new Set<string>()
  const over = new Set<string>()
  for (const { type, subject } of events) (type === 'user.invited' ? invited : over).add(subject.id)
  return [...invited].filter((id) => !over.has(id))
}
