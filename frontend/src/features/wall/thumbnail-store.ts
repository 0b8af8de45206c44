/** The newest small picture of each episode as an address for an image; tiles subscribe to their own. */

type Listener = () => void;

/** `interval`: the least time between two pictures of one episode (milliseconds); the newest is shown once it is over. */
export class ThumbnailStore {
  private readonly urls = new Map<string, string>();
  private readonly updatedAt = new Map<string, number>();
  private readonly waiting = new Map<string, Blob>();
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly interval = 0) {}

  url(episode: string): string | null {
    return this.urls.get(episode) ?? null;
  }

  subscribe(episode: string, listener: Listener): () => void {
    const mine = this.listeners.get(episode) ?? new Set();
    this.listeners.set(episode, mine.add(listener));
    return () => void mine.delete(listener);
  }

  /** Stores a picture; null removes it. */
  put(episode: string, picture: Blob | null): void {
    const now = performance.now();
    const due = (this.updatedAt.get(episode) ?? -Infinity) + this.interval;
    if (picture === null) this.forget(episode);
    else if (now >= due) this.show(episode, picture);
    else this.showAfter(episode, picture, due - now);
  }

  private showAfter(episode: string, picture: Blob, delay: number): void {
    this.waiting.set(episode, picture);
    if (this.timers.has(episode)) return;
    const timer = setTimeout(() => {
      this.timers.delete(episode);
      const newest = this.waiting.get(episode);
      if (newest) this.show(episode, newest);
    }, delay);
    this.timers.set(episode, timer);
  }

  /** Drops the pictures of all other episodes. */
  keep(episodes: ReadonlySet<string>): void {
    for (const episode of [...this.urls.keys(), ...this.waiting.keys()]) if (!episodes.has(episode)) this.forget(episode);
  }

  clear(): void {
    this.keep(new Set());
  }

  private show(episode: string, picture: Blob): void {
    this.waiting.delete(episode);
    this.updatedAt.set(episode, performance.now());
    this.replace(episode, URL.createObjectURL(picture));
  }

  private forget(episode: string): void {
    clearTimeout(this.timers.get(episode));
    for (const each of [this.timers, this.waiting, this.updatedAt]) each.delete(episode);
    this.replace(episode, null);
  }

  private replace(episode: string, url: string | null): void {
    const before = this.urls.get(episode);
    if (before !== undefined) URL.revokeObjectURL(before);
    if (url === null) this.urls.delete(episode);
    else this.urls.set(episode, url);
    if (before !== undefined || url !== null) this.listeners.get(episode)?.forEach((listener) => listener());
  }
}
