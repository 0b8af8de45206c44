/** The part of noVNC that is used here; the package ships no types. */
declare module "@novnc/novnc" {
  export default class RFB {
    constructor(target: HTMLElement, channel: string | WebSocket, options?: { shared?: boolean });
    viewOnly: boolean;
    scaleViewport: boolean;
    qualityLevel: number;
    compressionLevel: number;
    background: string;
    addEventListener(type: "connect", listener: () => void): void;
    addEventListener(type: "disconnect", listener: (event: CustomEvent<{ clean: boolean }>) => void): void;
    disconnect(): void;
  }
}
