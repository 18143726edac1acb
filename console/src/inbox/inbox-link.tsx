import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** A request in a list of the inbox; `isChosen`: it is open beside the list. */
export function InboxLink({
  id,
  isChosen,
  children,
}: {
  id: string
  isChosen: boolean
  children: ReactNode
}): ReactNode {
  return (
    <Link
      to="/inbox/$id"
      params={{ id }}
      aria-current={isChosen ? 'true' : undefined}
      className={`grid gap-0.5 px-4 py-3 -outline-offset-2! ${isChosen ? 'bg-accent-tint' : 'hover:bg-sunken'}`}
    >
      {children}
    </Link>
  )
}
