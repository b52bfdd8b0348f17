# shellcheck shell=bash
# Traces decoded by protoc, with the field numbers of Perfetto's published schema (google/perfetto, protos/perfetto/trace/).

write_schema() {
    cat >"$SCRATCH/trace.proto" <<'PROTO'
syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional uint64 timestamp = 8;
  optional uint32 trusted_packet_sequence_id = 10;
  optional TrackEvent track_event = 11;
  optional InternedData interned_data = 12;
  optional uint32 sequence_flags = 13;
  optional TrackDescriptor track_descriptor = 60;
}
message InternedData { repeated EventName event_names = 2; }
message EventName { optional uint64 iid = 1; optional string name = 2; }
message TrackDescriptor {
  optional uint64 uuid = 1;
  optional string name = 2;
  optional uint64 parent_uuid = 5;
  optional CounterDescriptor counter = 8;
  optional int32 child_ordering = 11;
  optional int32 sibling_order_rank = 12;
}
message CounterDescriptor { optional int32 unit = 3; optional string unit_name = 6; }
message TrackEvent {
  repeated DebugAnnotation debug_annotations = 4;
  optional int32 type = 9;
  optional uint64 name_iid = 10;
  optional uint64 track_uuid = 11;
  optional double double_counter_value = 44;
  repeated fixed64 flow_ids = 47;
  repeated fixed64 terminating_flow_ids = 48;
}
message DebugAnnotation { optional double double_value = 5; optional string string_value = 6; optional string name = 10; }
PROTO
}

# The events of a trace, as tests/e2e/trace/decode says.
decode() { # TRACE
    protoc --proto_path="$SCRATCH" --decode=Trace trace.proto <"$1" | "$ROOT/tests/e2e/trace/decode"
}
