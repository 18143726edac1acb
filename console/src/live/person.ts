/**
 * Says to the other windows of the browser who is signed in, and follows what they say: `onOther` when it is another person, who signed in there.
 * Returns a function that ends it.
 */
export function followPerson(user_id: string, onOther: () => void): () => void {
  const channel = new BroadcastChannel('sallyport-person')
  channel.onmessage = ({ data }: MessageEvent<string>) => {
    if (data !== user_id) onOther()
  }
  channel.postMessage(user_id)
  return () => channel.close()
}
