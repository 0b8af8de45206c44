"""What a browser's RTCP says of its link, and what says nothing of it."""

import struct

from aiortc import rtp

from vm_bridge.streams.rtp_sender import BandwidthEstimate, PacketLoss, parse_reports

OURS, THEIRS = 1234, 99


def receiver_report(ssrc: int, fraction: int) -> rtp.RtcpRrPacket:
    info = rtp.RtcpReceiverInfo(
        ssrc=ssrc, fraction_lost=fraction, packets_lost=3, highest_sequence=9, jitter=1, lsr=0, dlsr=0
    )
    return rtp.RtcpRrPacket(ssrc=THEIRS, reports=[info])


def estimate(ssrc: int, rate: int) -> rtp.RtcpPsfbPacket:
    fci = rtp.pack_remb_fci(rate, [ssrc])
    return rtp.RtcpPsfbPacket(fmt=rtp.RTCP_PSFB_APP, ssrc=THEIRS, media_ssrc=0, fci=fci)


def test_a_receiver_report_tells_the_share_lost() -> None:
    assert list(parse_reports(receiver_report(OURS, 64), OURS)) == [PacketLoss(0.25)]


def test_a_remb_tells_the_estimate() -> None:
    assert list(parse_reports(estimate(OURS, 1_500_000), OURS)) == [BandwidthEstimate(1_500_000)]


def test_what_concerns_another_stream_is_not_heard() -> None:
    assert list(parse_reports(receiver_report(THEIRS, 64), OURS)) == []
    assert list(parse_reports(estimate(THEIRS, 1_500_000), OURS)) == []


def test_what_cannot_be_read_is_not_heard() -> None:
    for fci in (b"", b"XXXX1234", b"REMB" + struct.pack("!BBH", 200, 0, 0)):
        packet = rtp.RtcpPsfbPacket(fmt=rtp.RTCP_PSFB_APP, ssrc=THEIRS, media_ssrc=0, fci=fci)
        assert list(parse_reports(packet, OURS)) == []
