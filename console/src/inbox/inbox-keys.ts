import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { neighbour } from './neighbour.ts'

/**
 * The keys of the inbox: j and k move, a and d put the focus on Approve and Deny. None of them decides. Keys that a person types into a
 * field, or with Ctrl, Alt or Meta, are left alone.
 */
export function useInboxKeys(ids: readonly string[], chosen: string | undefined): void {
  const navigate = useNavigate()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return
      if (event.key === 'a' || event.key === 'd') {
        const act = event.key === 'a' ? 'approve' : 'deny'
        const button = document.querySelector<HTMLElement>(`[data-act="${act}"]`)
        if (button === null) return
        event.preventDefault()
        return button.focus()
      }
      const next = neighbour(ids, chosen, event.key)
      if (next === undefined) return
      event.preventDefault()
      navigate({ to: '/inbox/$id', params: { id: next } }).catch(() => undefined)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [ids, chosen, navigate])
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]') !== null
  )
}
