// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Test} from "forge-std/Test.sol";
import {WalletDeployment} from "../../src/lens/WalletDeployment.sol";
import {ContractWallet} from "../base/Wallets.sol";

/// @dev Deploys wallets, and remembers who asked for it.
contract Factory {
    address public caller;
    uint256 public calls;

    function deploy(bytes32 salt) external returns (address) {
        (caller, calls) = (msg.sender, calls + 1);
        return address(new ContractWallet{salt: salt}(address(this)));
    }

    function refuse() external pure {
        revert("not today");
    }

    /// @dev Deploys, and answers with more than a caller would want to pay for.
    function deployAndTalk(bytes32 salt) external returns (bytes memory) {
        new ContractWallet{salt: salt}(address(this));
        return new bytes(100_000);
    }

    function addressOf(bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(address(this))));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}

contract WalletDeploymentTest is Test {
    Factory private factory;
    address private wallet;

    function setUp() public {
        factory = new Factory();
        wallet = factory.addressOf(0);
    }

    function test_deploysFromAnAddressOfItsOwn_andLeavesNoCode() public {
        address deployment = create(address(factory), abi.encodeCall(Factory.deploy, (0)), wallet);
        assertGt(wallet.code.length, 0);
        assertEq(factory.caller(), deployment);
        assertTrue(deployment != address(this));
        assertEq(deployment.code.length, 0);
    }

    function test_leavesAWalletAsItIs() public {
        factory.deploy(0);
        create(address(factory), abi.encodeCall(Factory.refuse, ()), wallet);
        create(address(factory), abi.encodeCall(Factory.deploy, (0)), wallet);
        assertEq(factory.calls(), 1);
    }

    function test_revertsWhenTheFactoryDoes() public {
        expectNotDeployed(address(factory), abi.encodeCall(Factory.refuse, ()));
    }

    function test_revertsWhenAnotherWalletIsDeployed() public {
        expectNotDeployed(address(factory), abi.encodeCall(Factory.deploy, (bytes32(uint256(1)))));
    }

    function test_revertsWhenTheFactoryIsNoContract() public {
        expectNotDeployed(address(0xdead), abi.encodeCall(Factory.deploy, (0)));
    }

    function test_copiesNoAnswer() public {
        uint256 before = gasleft();
        factory.deployAndTalk(bytes32(uint256(2)));
        uint256 copied = before - gasleft();
        before = gasleft();
        create(address(factory), abi.encodeCall(Factory.deployAndTalk, (0)), wallet);
        assertLt(before - gasleft(), copied);
    }

    function create(address target, bytes memory data, address expected) private returns (address) {
        return address(new WalletDeployment(target, data, expected));
    }

    function expectNotDeployed(address target, bytes memory data) private {
        vm.expectRevert(abi.encodeWithSelector(WalletDeployment.WalletNotDeployed.selector, wallet));
        create(target, data, wallet);
        assertEq(wallet.code.length, 0);
    }
}
