const listeners = new Set<() => void>()

/** That a call was refused because the session ended. */
export const sessionOver = {
  note: (): void => {
    for (const listener of listeners) listener()
  },
  listen(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}
