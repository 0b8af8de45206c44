/** A recorded session on one time axis: what was heard, said, thought and done. The sound itself never left the person's computer. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Pause, Play, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useState } from "react";

import type { SpeechOut } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import type { Command } from "@/shared/commands/command";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { ErrorState } from "@/shared/ui/states";

import { speechQuery, useSpeechChange } from "./api";
import { speechCommands } from "./commands";
import { RefinementPanel } from "./refinement-panel";
import { RevisionList } from "./revision-list";
import styles from "./speech.module.css";
import { ThoughtEditor } from "./thought-editor";
import { clock, stepAt, thoughtAt, thoughtOfWord, zoomBy } from "./time-axis";
import { Tracks } from "./tracks";
import { VariantsPanel } from "./variants-panel";

type Props = {
  episodeId: string;
  steps: readonly Step[];
  /** The step that is shown. */
  current: number;
  /** Shows the screen of a step. */
  onReach: (step: number) => void;
};

export default function SpeechTimeline(props: Props) {
  const { data, error, refetch } = useQuery(speechQuery(props.episodeId));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return data ? <LoadedTimeline {...props} speech={data} /> : null;
}

function LoadedTimeline({ episodeId, steps, current, onReach, speech }: Props & { speech: SpeechOut }) {
  const { t } = useI18n();
  const change = useSpeechChange(episodeId);
  const [zoom, setZoom] = useState(1);
  const [word, setWord] = useState(0);
  const cursor = useCursor(speech, current, onReach);
  const selected = thoughtOfWord(speech, word);
  const select = (thought: number) => {
    const chosen = speech.thoughts[thought];
    if (!chosen) return;
    setWord(chosen.first_word);
    cursor.seek(chosen.begin);
  };
  const seek = (seconds: number) => {
    cursor.seek(seconds);
    const thought = thoughtAt(speech.thoughts, seconds);
    if (thought !== null) setWord(speech.thoughts[thought]?.first_word ?? 0);
  };
  const hasThoughts = speech.thoughts.length > 0;
  useCommands([
    { command: speechCommands.play, run: cursor.toggle },
    { command: speechCommands.next, enabled: selected + 1 < speech.thoughts.length, run: () => select(selected + 1) },
    { command: speechCommands.previous, enabled: selected > 0, run: () => select(selected - 1) },
    { command: speechCommands.next_word, enabled: word + 1 < speech.words.length, run: () => setWord(word + 1) },
    { command: speechCommands.previous_word, enabled: word > 0, run: () => setWord(word - 1) },
    { command: speechCommands.zoom_in, run: () => setZoom(zoomBy(zoom, 2)) },
    { command: speechCommands.zoom_out, run: () => setZoom(zoomBy(zoom, 0.5)) },
  ]);
  return (
    <section className={styles.timeline} aria-label={t("speech.title")}>
      <div className={styles.bar}>
        <ToolButton command={speechCommands.play} label={t(cursor.playing ? "speech.pause" : "speech.play")} onClick={cursor.toggle}>
          {cursor.playing ? <Pause size={14} /> : <Play size={14} />}
        </ToolButton>
        <span className={styles.now}>
          {clock(cursor.now)} / {clock(speech.duration)}
        </span>
        <ToolButton command={speechCommands.zoom_out} label={t("speech.zoom_out")} onClick={() => setZoom(zoomBy(zoom, 0.5))}>
          <ZoomOut size={14} />
        </ToolButton>
        <ToolButton command={speechCommands.zoom_in} label={t("speech.zoom_in")} onClick={() => setZoom(zoomBy(zoom, 2))}>
          <ZoomIn size={14} />
        </ToolButton>
        <span className={styles.quiet}>{t("speech.silent")}</span>
      </div>
      <Tracks speech={speech} steps={steps} zoom={zoom} now={cursor.now} currentStep={current} selected={hasThoughts ? selected : -1} onSeek={seek} onSelect={select} />
      {hasThoughts ? (
        <>
          <ThoughtEditor speech={speech} place={selected} word={word} onWord={setWord} currentStep={current} change={change} />
          <RefinementPanel episodeId={episodeId} speech={speech} place={selected} change={change} />
          <VariantsPanel episodeId={episodeId} mayEdit={speech.may_edit} place={selected} revision={speech.revision} />
        </>
      ) : (
        <p className={styles.none}>{t("speech.nothing_said")}</p>
      )}
      <RevisionList speech={speech} onRestore={(revision) => change.mutate({ type: "edit", do: "restore", base: speech.revision, revision })} />
    </section>
  );
}

type ToolProps = { command: Command; label: string; onClick: () => void; children: React.ReactNode };

function ToolButton({ command, label, onClick, children }: ToolProps) {
  return (
    <Tooltip label={<>{label} <CommandKey command={command} /></>}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** The cursor's time. It follows the step that is shown, and shows the step that it reaches. */
function useCursor({ steps, duration }: SpeechOut, current: number, onReach: (step: number) => void) {
  const [now, setNow] = useState(0);
  const [playing, setPlaying] = useState(false);
  const isOver = now >= duration;
  const running = playing && !isOver;
  const reached = stepAt(steps, now);
  const [lastStep, setLastStep] = useState(current);
  if (lastStep !== current) {
    setLastStep(current);
    if (reached !== current && steps[current]) setNow(steps[current].begin);
  }
  useEffect(() => {
    if (!running) return;
    let last: number | null = null;
    let frame = requestAnimationFrame(function tick(at) {
      const passed = last === null ? 0 : (at - last) / 1_000;
      last = at;
      setNow((now) => Math.min(duration, now + passed));
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [running, duration]);
  useEffect(() => {
    if (running && reached !== current) onReach(reached);
  }, [running, reached, current, onReach]);
  const seek = (seconds: number) => {
    setNow(seconds);
    const step = stepAt(steps, seconds);
    if (step !== current) onReach(step);
  };
  const toggle = () => {
    if (isOver) setNow(0);
    setPlaying(!running);
  };
  return { now, playing: running, seek, toggle };
}
